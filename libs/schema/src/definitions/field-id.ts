import { randomInt } from 'node:crypto';

/** Ids that a definition may have (fields §1.2): short, since constraint names have a collection's id as well. */
export const fieldIdPattern = /^[A-Za-z0-9_-]{1,24}$/;

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Creates a field id: 12 random characters, 62 bits. */
export const newFieldId = (): string =>
  Array.from({ length: 12 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
