import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts texts for other gateways. */
export interface SealedTexts {
  seal(text: string): string;
  /** Undefined for a text that no gateway with this secret has sealed. */
  open(sealed: string): string | undefined;
}

const [nonceBytes, tagBytes] = [12, 16];

/** Creates the cipher from the deployment's token secret: what gateways send each other has their clients' tokens. */
export function createSealedTexts(secret: Uint8Array): SealedTexts {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus pocketbase clients', 32));
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}
