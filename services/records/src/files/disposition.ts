import { encodeExtended } from 'content-disposition';

/** What a name in ASCII may not have: a quote, an escape, and a percent sign, which some clients decode (RFC 6266 §D). */
const risky = /[^ -~]|["\\%]/gu;

/**
 * A download's `Content-Disposition` (RFC 6266). A name that ASCII cannot say has two forms: `filename` in ASCII, and
 * `filename*` in UTF-8 (RFC 8187), which every browser prefers.
 */
export function dispositionOf(type: 'inline' | 'attachment', name: string): string {
  const plain = inAscii(name);
  return `${type}; filename="${plain}"${plain === name ? '' : `; filename*=${encodeExtended(name)}`}`;
}

/** The name without the marks on its letters; an underscore stands for every other character. */
const inAscii = (name: string): string => name.normalize('NFKD').replace(/\p{M}/gu, '').replace(risky, '_');
