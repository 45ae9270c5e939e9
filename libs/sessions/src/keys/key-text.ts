import { createHash, randomBytes } from 'node:crypto';

/** A service key's text: `rbk_<id>_<secret>` (keys §1.2). The id is public. */
export interface KeyText {
  readonly id: string;
  /**
   * SHA-256 over the whole text, which is stored instead of the text. The secret has 256 random bits, so no salt is
   * needed.
   */
  readonly hash: Buffer;
}

const keyPrefix = 'rbk_';

/** Characters for an id, without those that are easily confused. There are 32, so each takes five bits. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
const idLength = 16;
const shape = new RegExp(`^${keyPrefix}([${alphabet}]{${idLength}})_[\\w-]{43}$`);

/** Reads a key's text; undefined for any other text. */
export function readKeyText(text: string): KeyText | undefined {
  if (text.length !== keyPrefix.length + idLength + 44) return undefined;
  const [, id] = shape.exec(text) ?? [];
  return id === undefined ? undefined : { id, hash: createHash('sha256').update(text).digest() };
}

/** Whether the text looks like a key's id. */
export const isKeyId = (text: string): boolean =>
  text.length === idLength && shape.test(`${keyPrefix}${text}_${'a'.repeat(43)}`);

/** Makes a new key's text. */
export function newKeyText(): KeyText & { readonly text: string } {
  const id = Array.from(randomBytes(idLength), (byte) => alphabet[byte % alphabet.length]).join('');
  const text = `${keyPrefix}${id}_${randomBytes(32).toString('base64url')}`;
  return { text, id, hash: createHash('sha256').update(text).digest() };
}

/** The key part that lists and log lines show. */
export const shownKey = (id: string): string => `${keyPrefix}${id}`;
