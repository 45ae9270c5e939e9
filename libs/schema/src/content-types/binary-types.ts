import { matroskaType } from './matroska.ts';

/** The type for unknown content. */
export const unknownType = 'application/octet-stream';

type Signature = readonly [type: string, offset: number, hex: string];

/** File type signatures, the more specific ones first. */
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
  ['audio/flac', 0, '664c6143'],
  ['font/woff', 0, '774f4646'],
  ['font/woff2', 0, '774f4632'],
  ['font/otf', 0, '4f54544f'],
  ['audio/midi', 0, '4d546864'],
  ['audio/amr', 0, '2321414d520a'],
  ['application/rtf', 0, '7b5c727466'],
  ['application/wasm', 0, '0061736d'],
  ['application/x-elf', 0, '7f454c46'],
  ['application/vnd.microsoft.portable-executable', 0, '4d5a'],
  ['application/vnd.sqlite3', 0, '53514c69746520666f726d6174203300'],
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

/** Office documents before 2007 share one format. The extension says which kind. */
const compoundTypes: Readonly<Record<string, string>> = {
  doc: 'application/msword',
  xls: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  msg: 'application/vnd.ms-outlook',
};
const compoundType = 'application/x-cfb';

/** Every type that `findBinaryTypes` may return, except those that a zip archive states. */
export const binaryTypes: readonly string[] = [
  ...signatures.map(([type]) => type),
  ...Object.values(riffTypes),
  ...Object.values(brands),
  ...officeTypes.map(([, type]) => type),
  ...Object.values(compoundTypes),
  ...['audio/aac', 'audio/mpeg', 'audio/aiff', 'audio/ogg', 'video/ogg', 'video/mp4'],
  ...['audio/webm', 'video/webm', 'audio/x-matroska', 'video/x-matroska'],
  ...[compoundType, 'application/zip', unknownType],
];

/**
 * Returns the types for a file that begins with a known signature; undefined for any other content. A signature with
 * few letters, such as the `BM` of bitmaps, does not count in a text.
 */
export function findBinaryTypes(
  head: Buffer,
  extension: string,
  isText: boolean,
): readonly [string, ...string[]] | undefined {
  const found = signatures.find(
    ([, offset, hex]) => startsWith(head, offset, hex) && !(isText && hex.length <= shortDigits),
  );
  if (found) return [found[0]];
  if (startsWith(head, 0, 'd0cf11e0a1b11ae1')) {
    const type = Object.hasOwn(compoundTypes, extension) ? compoundTypes[extension] : undefined;
    return type === undefined ? [compoundType] : [type, compoundType];
  }
  const type = containerType(head, isText);
  return type === undefined ? undefined : [type];
}

/** Four letters in hexadecimal digits. */
const shortDigits = 8;

const startsWith = (head: Buffer, offset: number, hex: string) =>
  head.toString('hex', offset, offset + hex.length / 2) === hex;

/** The type of a file whose signature says only how it is packed. */
function containerType(head: Buffer, isText: boolean): string | undefined {
  const tag = head.toString('latin1', 0, 4);
  if (tag === 'RIFF') return riffTypes[head.toString('latin1', 8, 12)] ?? unknownType;
  if (head.toString('latin1', 4, 8) === 'ftyp') return brands[head.toString('latin1', 8, 12)] ?? 'video/mp4';
  if (tag === 'PK\u0003\u0004') return zipType(head);
  if (tag === '\u001aE\u00df\u00a3') return matroskaType(head);
  if (isText) return undefined;
  if (tag === 'FORM' && /^AIF[FC]$/.test(head.toString('latin1', 8, 12))) return 'audio/aiff';
  // A stream's first packet names its codec (RFC 5334).
  if (tag === 'OggS') return head.subarray(0, 512).includes('\u0080theora', 0, 'latin1') ? 'video/ogg' : 'audio/ogg';
  return frameType(head);
}

/** The type of audio without a container, by its first frame's sync word: ADTS (ISO 13818-7), and MPEG audio. */
function frameType(head: Buffer): string | undefined {
  const [first, second = 0] = head;
  if (first !== 0xff) return undefined;
  if ((second & 0xf6) === 0xf0) return 'audio/aac';
  // Layer 3 in MPEG 1, 2 and 2.5.
  return [0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2].includes(second) ? 'audio/mpeg' : undefined;
}

/** OpenDocument and EPUB store their type uncompressed as the first entry; Office files have known folders. */
function zipType(head: Buffer): string {
  const text = head.toString('latin1');
  const [, declared] = /^.{26}..\0*mimetype(application\/[a-z0-9.+-]+?)(?=PK|$)/s.exec(text) ?? [];
  return declared ?? officeTypes.find(([folder]) => text.includes(folder))?.[1] ?? 'application/zip';
}
