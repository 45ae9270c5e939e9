import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { variable } from '@recordbus/process/config';
import { z } from 'zod';

/** The key for everything that is encrypted at rest (encryption §1.1). */
export const encryptionKey = variable(
  'SERVICE_ENCRYPTION_KEY',
  'Key for secret settings and encrypted fields: 32 bytes as hex or base64, or any passphrase. Default: the file encryption_key in the data directory, which npm start creates.',
  z.string().optional(),
);

/** Encrypts texts for storage and decrypts stored texts. */
export interface ValueCipher {
  /** False without a key: texts are then stored as they are. */
  readonly isEncrypting: boolean;
  encrypt(text: string): string;
  /** Returns plain text as it is; undefined when the key is missing or is not the one that encrypted the text. */
  decrypt(stored: string): string | undefined;
}

const prefix = 'enc:1:';
const ivShape = /^[A-Za-z0-9_-]{16}$/;
const otherCharacter = /[^A-Za-z0-9_-]/;
const minLength = 22;
const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

/** Whether a stored text has the encrypted texts' prefix. */
export const isCiphertext = (stored: string): boolean => stored.startsWith(prefix);

/**
 * Creates the cipher for values at rest. An encrypted text is `enc:1:<iv>:<ciphertext>` (encryption §2.1): AES-256-GCM
 * with a random 96-bit IV and the tag appended, in base64url without padding. Random IVs are safe for 2^32 texts under
 * one key (NIST SP 800-38D §8.3).
 */
export function createValueCipher(key: string | undefined): ValueCipher {
  if (!key)
    return {
      isEncrypting: false,
      encrypt: (text) => text,
      decrypt: (stored) => (isCiphertext(stored) ? undefined : stored),
    };
  const secret = deriveKey(key);
  return {
    isEncrypting: true,
    encrypt(text) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, secret, iv);
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${prefix}${iv.toString('base64url')}:${bytes.toString('base64url')}`;
    },
    decrypt: (stored) => (isCiphertext(stored) ? decryptWith(secret, stored) : stored),
  };
}

function decryptWith(secret: Uint8Array, stored: string): string | undefined {
  const colon = stored.indexOf(':', prefix.length);
  const iv = stored.slice(prefix.length, colon);
  const ciphertext = stored.slice(colon + 1);
  // One pattern for the whole text would overflow the stack for texts of 16 MB.
  if (!ivShape.test(iv) || ciphertext.length < minLength || otherCharacter.test(ciphertext)) return undefined;
  const bytes = Buffer.from(ciphertext, 'base64url');
  const decipher = createDecipheriv(algorithm, secret, Buffer.from(iv, 'base64url'), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return decipher.update(bytes.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/**
 * Reads 32 bytes in hex or base64 as the key; derives it from any other text by HKDF-SHA-256 (RFC 5869, encryption
 * §2.2).
 */
function deriveKey(key: string): Uint8Array {
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key)) return Buffer.from(key, 'base64');
  return new Uint8Array(hkdfSync('sha256', key, '', 'recordbus encryption at rest', keyBytes));
}
