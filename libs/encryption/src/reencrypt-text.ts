import type { ValueCipher } from '@recordbus/crypto';

/** The new and the former key's ciphers. */
export interface Ciphers {
  readonly current: ValueCipher;
  readonly former: ValueCipher;
}

export interface ReencryptedText {
  readonly text: string;
  /** How many values were encrypted under the new key. */
  readonly encrypted: number;
  /** How many values neither key decrypts. */
  readonly unreadable: number;
}

/** An encrypted value anywhere in a text (encryption §2.1). JSON escapes none of its characters. */
const ciphertext = /enc:1:[A-Za-z0-9_-]{16}:[A-Za-z0-9_-]{22,}/g;

/** Re-encrypts every encrypted value in a text. Values that the new key decrypts stay, so it can run again. */
export function reencryptText(stored: string, { current, former }: Ciphers): ReencryptedText {
  let encrypted = 0;
  let unreadable = 0;
  const text = stored.replaceAll(ciphertext, (value) => {
    if (current.decrypt(value) !== undefined) return value;
    const plain = former.decrypt(value);
    if (plain === undefined) {
      unreadable += 1;
      return value;
    }
    encrypted += 1;
    return current.encrypt(plain);
  });
  return { text, encrypted, unreadable };
}
