import { crc32, deflateRawSync } from 'node:zlib';

/** A file in an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly bytes: Buffer | string;
  /** The flags that the archive notes: 1 for an encrypted file. */
  readonly flags?: number;
  /** The size that the archive notes, if it is another one. */
  readonly noted?: number;
  /** What Unix notes about it, such as a link. */
  readonly mode?: number;
}

/** Writes a zip archive, also one that no honest program writes. With `is64` its sizes are in zip64 fields. */
export function zipArchive(files: readonly ZippedFile[], { is64 = false } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes: given, flags = 0, noted, mode = 0o100600 } of files) {
    const bytes = Buffer.from(given);
    const packed = deflateRawSync(bytes);
    const size = noted ?? bytes.length;
    const encoded = Buffer.from(name);
    const extra = is64
      ? Buffer.concat([numbers([2, 1], [2, 24], [8, size], [8, packed.length], [8, offset])])
      : Buffer.alloc(0);
    const sizes: [number, number][] = is64
      ? [
          [4, 0xffffffff],
          [4, 0xffffffff],
        ]
      : [
          [4, packed.length],
          [4, size],
        ];
    const common: [number, number][] = [
      [2, 45],
      [2, flags | 0x800],
      [2, 8],
      [2, 0],
      [2, 0x21],
      [4, crc32(bytes)],
    ];
    const local = numbers([4, 0x04034b50], ...common, ...sizes, [2, encoded.length], [2, is64 ? 20 : 0]);
    const localExtra = is64 ? numbers([2, 1], [2, 16], [8, size], [8, packed.length]) : Buffer.alloc(0);
    parts.push(local, encoded, localExtra, packed);
    directory.push(
      numbers(
        [4, 0x02014b50],
        [2, 0x031e],
        ...common,
        ...sizes,
        [2, encoded.length],
        [2, extra.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, (mode << 16) >>> 0],
        [4, is64 ? 0xffffffff : offset],
      ),
      encoded,
      extra,
    );
    offset += local.length + encoded.length + localExtra.length + packed.length;
  }
  const list = Buffer.concat(directory);
  const end64 = is64
    ? numbers(
        [4, 0x06064b50],
        [8, 44],
        [2, 45],
        [2, 45],
        [4, 0],
        [4, 0],
        [8, files.length],
        [8, files.length],
        [8, list.length],
        [8, offset],
        [4, 0x07064b50],
        [4, 0],
        [8, offset + list.length],
        [4, 1],
      )
    : Buffer.alloc(0);
  const count = is64 ? 0xffff : files.length;
  const end = numbers(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, is64 ? 0xffffffff : list.length],
    [4, is64 ? 0xffffffff : offset],
    [2, 0],
  );
  return Buffer.concat([...parts, list, end64, end]);
}

/** Little-endian numbers, each with its length in bytes. */
function numbers(...given: readonly (readonly [number, number])[]): Buffer {
  const buffer = Buffer.alloc(given.reduce((sum, [length]) => sum + length, 0));
  let at = 0;
  for (const [length, value] of given) {
    if (length === 8) buffer.writeBigUInt64LE(BigInt(value), at);
    else buffer.writeUIntLE(value, at, length);
    at += length;
  }
  return buffer;
}
