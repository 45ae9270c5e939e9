import { randomInt } from 'node:crypto';

const base = 36;
const halfLength = 5;
const maxSlugLength = 100;
const maxExtensionLength = 20;

/** How many characters of the original are read. Normalization takes quadratic time for runs of combining marks. */
const maxOriginalLength = 1000;

/**
 * An upload's stored name: a slug of the original, an underscore, 10 random characters and the extension (files §2.1).
 * It is ASCII without a leading dot, and has at most 132 characters.
 */
export function storedNameOf(originalName: string): string {
  const name = originalName.slice(Math.max(originalName.lastIndexOf('/'), originalName.lastIndexOf('\\')) + 1);
  const dot = name.lastIndexOf('.');
  const hasExtension = dot > 0 && dot < name.length - 1;
  const extension = hasExtension ? slugOf(name.slice(dot + 1), maxExtensionLength) : '';
  const slug = slugOf(hasExtension ? name.slice(0, dot) : name, maxSlugLength) || 'file';
  return `${slug}_${randomText()}${extension && `.${extension}`}`;
}

const slugOf = (text: string, maxLength: number): string =>
  text
    .slice(0, maxOriginalLength)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, maxLength)
    .replace(/^_|_$/g, '');

const randomText = (): string => randomHalf() + randomHalf();

/** `randomInt` takes at most 48 bits. */
const randomHalf = (): string =>
  randomInt(base ** halfLength)
    .toString(base)
    .padStart(halfLength, '0');
