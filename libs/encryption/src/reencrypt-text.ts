import type { ValueCipher } from '@recordbus/crypto';

/** The ciphers of the new and the former key. */
export interface Ciphers {
  readonly current: ValueCipher;
  readonly former: ValueCipher;
}

export interface ReencryptedText {
  readonly text: string;
  /** The number of values that were encrypted under the new key. */
  readonly encrypted: number;
  /** The number of values that neither key decrypts. */
  readonly unreadable: number;
}

/** An encrypted value anywhere in a text (encryption §2.1). JSON escapes none of its characters. */
const ciphertext = /enc:1:[A-Za-z0-9_-]{16}:[A-Za-z0-9_-]{22,}/g;

/** Re-encrypts every encrypted value of a text. Values that the new key decrypts stay, so it can run again. */
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
