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

/** How an encrypted value begins anywhere in a text (encryption §2.1). JSON escapes none of its characters. */
const beginning = /enc:1:[A-Za-z0-9_-]{16}:/g;
const otherCharacter = /[^A-Za-z0-9_-]|$/g;
const minLength = 22;

/**
 * Re-encrypts every encrypted value in a text. Values that the new key decrypts stay, so it can run again. A value's end
 * is searched by itself: one pattern for a whole value would overflow the stack for values of 16 MB.
 */
export function reencryptText(stored: string, { current, former }: Ciphers): ReencryptedText {
  const parts: string[] = [];
  let done = 0;
  let encrypted = 0;
  let unreadable = 0;
  for (const { 0: head, index } of stored.matchAll(beginning)) {
    const start = index + head.length;
    otherCharacter.lastIndex = start;
    const end = otherCharacter.exec(stored)?.index ?? stored.length;
    if (end - start < minLength) continue;
    const value = stored.slice(index, end);
    if (current.decrypt(value) !== undefined) continue;
    const plain = former.decrypt(value);
    if (plain === undefined) {
      unreadable += 1;
      continue;
    }
    encrypted += 1;
    parts.push(stored.slice(done, index), current.encrypt(plain));
    done = end;
  }
  return { text: parts.join('') + stored.slice(done), encrypted, unreadable };
}
