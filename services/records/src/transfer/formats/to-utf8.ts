import { malformed } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';

/** A body's encodings, as the parameter names them. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin1'] as const;
export type Encoding = (typeof encodings)[number];

/**
 * How large a piece is, in bytes. A larger piece would block the event loop, since it may have as many lines as bytes.
 */
const pieceBytes = 8192;

/** What a request says about its body's encoding. */
export interface BodyEncoding {
  readonly named?: Encoding | undefined;
  /** The content type's. */
  readonly charset?: string | undefined;
}

/**
 * Converts a body to UTF-8 without its byte order mark, in small pieces. A named encoding comes first, then a mark, then
 * the charset, then UTF-8. Throws 400 for bytes that are not in the encoding.
 */
export async function* toUtf8(source: AsyncIterable<Buffer>, { named, charset }: BodyEncoding): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let name = 'utf-8';
  let done = 0;
  const decode = (bytes: Buffer, stream: boolean): Buffer => {
    try {
      return Buffer.from(decoder?.decode(bytes, { stream }) ?? '');
    } catch {
      throw malformed(`the body is not ${name}, after ${done} bytes; name its encoding: ${encodings.join(', ')}`);
    }
  };
  for await (const chunk of inPieces(withWholeMark(source))) {
    if (!decoder) {
      name = named ?? markedEncoding(chunk) ?? charset ?? name;
      decoder = new TextDecoder(name, { fatal: true });
    }
    const converted = decode(chunk, true);
    done += chunk.length;
    if (converted.length > 0) yield converted;
  }
  if (!decoder) return;
  const rest = decode(Buffer.alloc(0), false);
  if (rest.length > 0) yield rest;
}

function markedEncoding([first, second, third]: Buffer): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

/** How long the longest byte order mark is. */
const markBytes = 3;

/** Joins the first pieces until a byte order mark is whole. */
async function* withWholeMark(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of source) {
    if (!first) {
      yield chunk;
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < markBytes) continue;
    yield first;
    first = undefined;
  }
  if (first && first.length > 0) yield first;
}

/** Cuts a stream into small pieces, and lets the event loop run other work between them. */
export async function* inPieces(source: AsyncIterable<Buffer>, bytes = pieceBytes): AsyncGenerator<Buffer> {
  const slice = startSlice();
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += bytes) {
      if (slice.isOver()) await slice.pause();
      yield chunk.subarray(at, at + bytes);
    }
}
