import { type CipherGCMTypes, createDecipheriv } from 'node:crypto';
import { CommandFailure } from '@recordbus/stack-calls';

/** A key for encrypted settings, and the environment variable that it is from. */
export interface EncryptionKey {
  readonly variable: string;
  readonly key: string;
}

/** How PocketBase encrypts: AES-GCM with the key's bytes. In Base64 are the nonce, the text and the tag. */
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Reads PocketBase's settings, which are JSON, or encrypted JSON. Returns undefined for other texts, and for encrypted ones without a
 * key. Throws CommandFailure for a wrong key.
 */
export function readSettings(
  stored: string,
  encryption: EncryptionKey | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const plain = parseSettings(stored);
  if (plain || !encryption || stored === '') return plain;
  const settings = parseSettings(decrypt(stored, encryption));
  if (!settings) throw new CommandFailure(`PocketBase's settings are not JSON when they are decrypted.`);
  return settings;
}

function decrypt(stored: string, { variable, key }: EncryptionKey): string {
  const secret = Buffer.from(key);
  const cipher = cipherOf(secret);
  if (!cipher) throw new CommandFailure(`${variable} must have 32 characters, as PocketBase's encryption key has.`);
  const bytes = Buffer.from(stored, 'base64');
  try {
    const decipher = createDecipheriv(cipher, secret, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString();
  } catch {
    throw new CommandFailure(`PocketBase's settings cannot be decrypted with the key in ${variable}.`);
  }
}

/** Go chooses the cipher by the key's length. */
const cipherOf = ({ length }: Buffer): CipherGCMTypes | undefined =>
  length === 32 ? 'aes-256-gcm' : length === 24 ? 'aes-192-gcm' : length === 16 ? 'aes-128-gcm' : undefined;

function parseSettings(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const settings: unknown = JSON.parse(text);
    return typeof settings === 'object' && settings !== null ? { ...settings } : undefined;
  } catch {
    return undefined;
  }
}
