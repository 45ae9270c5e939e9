import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { variable } from '@recordbus/shared/config';
import { z } from 'zod';

/** The key of everything that is encrypted at rest: secret settings and encrypted fields (interface §2.7). */
export const encryptionKey = variable(
  'SERVICE_ENCRYPTION_KEY',
  'Key for secret settings and encrypted fields: 32 bytes as hex or base64, or any passphrase. Without it they are stored in plain text.',
  z.string().optional(),
);

/** Seals texts for storage and opens them again. */
export interface Envelope {
  /** False without a key: then texts are stored as they are. */
  readonly isSealing: boolean;
  seal(text: string): string;
  /** A text that was never sealed comes back as it is; undefined when the key is missing or not the one it was sealed with. */
  open(stored: string): string | undefined;
}

const prefix = 'enc:1:';
const shape = /^enc:1:([A-Za-z0-9_-]{16}):([A-Za-z0-9_-]{22,})$/;
const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

/** Does a stored text look like one that was sealed? */
export const isSealed = (stored: string): boolean => stored.startsWith(prefix);

/**
 * Makes the at-rest envelope `enc:1:<iv>:<ciphertext>` (contract §7): AES-256-GCM with a random 96-bit IV and the tag
 * appended, in base64url without padding. Random IVs are good for 2^32 texts under one key (NIST SP 800-38D §8.3).
 */
export function createEnvelope(key: string | undefined): Envelope {
  if (!key) return { isSealing: false, seal: (text) => text, open: (text) => (isSealed(text) ? undefined : text) };
  const secret = deriveKey(key);
  return {
    isSealing: true,
    seal(text) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, secret, iv);
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${prefix}${iv.toString('base64url')}:${bytes.toString('base64url')}`;
    },
    open: (stored) => (isSealed(stored) ? openSealed(secret, stored) : stored),
  };
}

function openSealed(secret: Uint8Array, stored: string): string | undefined {
  const [, iv, sealed] = shape.exec(stored) ?? [];
  if (!iv || !sealed) return undefined;
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv(algorithm, secret, Buffer.from(iv, 'base64url'), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return decipher.update(bytes.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/** 32 bytes as hex or base64 are the key itself; any other string is stretched to one by HKDF-SHA-256 (RFC 5869). */
function deriveKey(key: string): Uint8Array {
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key)) return Buffer.from(key, 'base64');
  return new Uint8Array(hkdfSync('sha256', key, '', 'recordbus encryption at rest', keyBytes));
}
