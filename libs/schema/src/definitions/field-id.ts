import { randomInt } from 'node:crypto';

/** Ids that a definition may carry; short enough for the names of constraints, which hold a collection's id as well. */
export const fieldIdPattern = /^[A-Za-z0-9_-]{1,24}$/;

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A new field id: 12 random characters, 62 bits. */
export const newFieldId = (): string =>
  Array.from({ length: 12 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
