/** A file system's names have as many bytes; a header with the name and its encoded form stays below 2 kB. */
const maxBytes = 255;
const maxExtensionBytes = 50;

/** How many characters are read. Normalization takes quadratic time for runs of combining marks. */
const maxRead = 1000;

/**
 * Characters that break a line, or that nobody sees, such as those that turn the reading direction. Joiners and
 * variation selectors stay: Persian, Indic scripts and emoji are written with them.
 */
const unseen = /[[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{Bidi_Control}]--[\u200C\u200D\uFE0E\uFE0F\u{E0100}-\u{E01EF}]]/gv;

/** What a name needs to be one: more than dots and spaces. */
const seen = /[[\p{L}\p{N}\p{P}\p{S}]--[.\p{DI}]]/v;

/**
 * The name that a sender gave a file, to show and to save it under (files §2.3): without folders, controls and invisible
 * characters, in NFC, with at most 255 bytes. Null when nothing is left that names a file.
 */
export function originalNameOf(sent: string): string | null {
  const name = baseNameOf(sent);
  const { stem, extension } = splitName(name);
  const suffix = extension && `.${cutToBytes(cleaned(extension), maxExtensionBytes)}`;
  const text = `${cutToBytes(cleaned(stem).trimStart(), maxBytes - Buffer.byteLength(suffix))}${suffix}`.trim();
  return seen.test(text) ? text : null;
}

const cleaned = (text: string): string => text.slice(0, maxRead).replace(unseen, '').normalize('NFC');

/** A path's last part, as Unix and Windows write it. */
export const baseNameOf = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

/** A name's parts around its last dot. A dot at its beginning or end separates nothing. */
export function splitName(name: string): { readonly stem: string; readonly extension: string } {
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1
    ? { stem: name.slice(0, dot), extension: name.slice(dot + 1) }
    : { stem: name, extension: '' };
}

/** A text's beginning with at most so many bytes in UTF-8, and whole characters. */
export function cutToBytes(text: string, max: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > max) break;
    end += character.length;
  }
  return text.slice(0, end);
}
