/**
 * A stored file's longest name, in bytes. File systems take 255, which include a record's id and a preview's size.
 */
export const maxFileNameBytes = 200;

/** Letters, digits and marks of every script, and `.`, `_` and `-`; none that cannot be seen, and no dot or mark first. */
const nameShape = /^[[\p{L}\p{N}_\-]--\p{DI}][[\p{L}\p{N}\p{M}._\-]--\p{DI}]*$/v;

/**
 * Whether a stored file can have the name (files §2.1): a path segment without separators, controls and invisible
 * characters, in the normal form NFC, so one name is one text in every file system and URL.
 */
export const isFileName = (text: string): boolean =>
  Buffer.byteLength(text) <= maxFileNameBytes && nameShape.test(text) && text === text.normalize('NFC');
