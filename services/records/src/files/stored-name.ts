import { randomInt } from 'node:crypto';
import { baseNameOf, cutToBytes, splitName } from './original-name.ts';

const base = 36;
const halfLength = 5;
const maxSlugLength = 100;
/** With the random characters, the extension and a preview's size it stays within `maxFileNameBytes`. */
const maxSlugBytes = 150;
const maxExtensionBytes = 20;

/** How many characters of the original are read. Normalization takes quadratic time for runs of combining marks. */
const maxOriginalLength = 1000;

/**
 * An upload's stored name: a slug of the original, an underscore, 10 random characters and the extension (files §2.1).
 * It has letters, digits and marks of every script, no leading dot, and at most 182 bytes.
 */
export function storedNameOf(originalName: string): string {
  const { stem, extension } = splitName(baseNameOf(originalName));
  const slug = cut(slugOf(stem), maxSlugLength, maxSlugBytes) || 'file';
  const suffix = cut(slugOf(extension), maxExtensionBytes, maxExtensionBytes);
  return `${slug}_${randomText()}${suffix && `.${suffix}`}`;
}

/** What separates words: everything but letters and digits, and letters that nobody sees. Marks need a letter before. */
const separators = /[[^\p{L}\p{N}\p{M}]\p{DI}][[^\p{L}\p{N}]\p{DI}]*/gv;

const slugOf = (text: string): string =>
  text
    .slice(0, maxOriginalLength)
    .toLowerCase()
    .normalize('NFC')
    .replace(/^\p{M}+/u, '')
    .replace(separators, '_');

const cut = (slug: string, maxLength: number, maxBytes: number): string =>
  cutToBytes(slug.slice(0, maxLength).toWellFormed(), maxBytes).replace(/^_|_$/g, '');

const randomText = (): string => randomHalf() + randomHalf();

/** `randomInt` takes at most 48 bits. */
const randomHalf = (): string =>
  randomInt(base ** halfLength)
    .toString(base)
    .padStart(halfLength, '0');
