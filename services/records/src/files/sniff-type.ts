/** How many bytes of a file are read. */
export const sniffedBytes = 4100;

/** The type of unknown content. */
const unknownType = 'application/octet-stream';

type Signature = readonly [type: string, offset: number, hex: string];

/** Signatures of file types, the more specific ones first. */
const signatures: readonly Signature[] = [
  ['image/png', 0, '89504e470d0a1a0a'],
  ['image/jpeg', 0, 'ffd8ff'],
  ['image/gif', 0, '474946383761'],
  ['image/gif', 0, '474946383961'],
  ['image/bmp', 0, '424d'],
  ['image/tiff', 0, '49492a00'],
  ['image/tiff', 0, '4d4d002a'],
  ['image/x-icon', 0, '00000100'],
  ['image/vnd.adobe.photoshop', 0, '38425053'],
  ['application/pdf', 0, '255044462d'],
  ['application/gzip', 0, '1f8b'],
  ['application/x-bzip2', 0, '425a68'],
  ['application/x-xz', 0, 'fd377a585a00'],
  ['application/zstd', 0, '28b52ffd'],
  ['application/x-7z-compressed', 0, '377abcaf271c'],
  ['application/vnd.rar', 0, '526172211a07'],
  ['application/x-tar', 257, '7573746172'],
  ['audio/mpeg', 0, '494433'],
  ['audio/mpeg', 0, 'fffb'],
  ['audio/flac', 0, '664c6143'],
  ['audio/ogg', 0, '4f676753'],
  ['video/webm', 0, '1a45dfa3'],
  ['font/woff', 0, '774f4646'],
  ['font/woff2', 0, '774f4632'],
  ['font/otf', 0, '4f54544f'],
  ['application/wasm', 0, '0061736d'],
  ['application/x-elf', 0, '7f454c46'],
  ['application/vnd.microsoft.portable-executable', 0, '4d5a'],
  ['application/vnd.sqlite3', 0, '53514c69746520666f726d6174203300'],
  ['application/x-cfb', 0, 'd0cf11e0a1b11ae1'],
];

const riffTypes: Readonly<Record<string, string>> = {
  WEBP: 'image/webp',
  WAVE: 'audio/wav',
  'AVI ': 'video/x-msvideo',
};

/** Major brands of ISO media files; others are video. */
const brands: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  avis: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  mif1: 'image/heif',
  'M4A ': 'audio/mp4',
  'qt  ': 'video/quicktime',
};

const officeTypes: readonly (readonly [folder: string, type: string])[] = [
  ['word/', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xl/', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['ppt/', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
];

/** Kinds of plain text by extension. Plain text has no signature, and none of these types is active content. */
const plainTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  md: 'text/markdown',
};

/**
 * The content type of a file by its first bytes (files §2.2). The name only decides which kind of plain text it is, and
 * the sender's type is ignored.
 */
export function sniffType(head: Buffer, name: string): string {
  const known = signatures.find(([, offset, hex]) => startsWith(head, offset, hex));
  if (known) return known[0];
  const tag = head.toString('latin1', 0, 4);
  if (tag === 'RIFF') return riffTypes[head.toString('latin1', 8, 12)] ?? unknownType;
  if (head.toString('latin1', 4, 8) === 'ftyp') return brands[head.toString('latin1', 8, 12)] ?? 'video/mp4';
  if (tag === 'PK\u0003\u0004') return zipType(head);
  return textType(head, name);
}

const startsWith = (head: Buffer, offset: number, hex: string) =>
  head.toString('hex', offset, offset + hex.length / 2) === hex;

/** OpenDocument and EPUB store their type uncompressed as the first entry; Office files have known folders. */
function zipType(head: Buffer): string {
  const text = head.toString('latin1');
  const [, declared] = /^.{26}..\0*mimetype(application\/[a-z0-9.+-]+?)(?=PK|$)/s.exec(text) ?? [];
  return declared ?? officeTypes.find(([folder]) => text.includes(folder))?.[1] ?? 'application/zip';
}

/** The type of a text. A text that a browser might run as a page has the type of a page, whatever precedes the markup. */
function textType(head: Buffer, name: string): string {
  const text = decode(head);
  if (text === undefined) return unknownType;
  const start = text.trimStart().toLowerCase();
  if (/<svg[\s>]/.test(start)) return 'image/svg+xml';
  if (/^<!doctype html|<(html|head|body|script|iframe|style|title|a|img|h1|div|p|table)[\s>/]/.test(start))
    return 'text/html';
  if (start.startsWith('<?xml') || start.startsWith('<!doctype')) return 'text/xml';
  return plainTypes[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'text/plain';
}

/** Decodes a text; undefined for binary content. The head of a longer file may end within a character. */
function decode(head: Buffer): string | undefined {
  const encoding = startsWith(head, 0, 'fffe') ? 'utf-16le' : startsWith(head, 0, 'feff') ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: head.length >= sniffedBytes });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark binary files
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
