import { parseObject } from './parse-object.ts';
import { brokenBody, maxRowBytes, type ReadFrom, type SourceRow } from './source-row.ts';

const [quote, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Where the reader is: before the list, where an element may begin (`first`, or `next` after a comma), within an
 * element, behind an element, or after the list.
 */
type Place = 'before' | 'first' | 'next' | 'within' | 'behind' | 'after';

/** Reads a JSON list's elements one at a time. The largest element bounds the memory. */
export async function* readJson(
  source: AsyncIterable<Buffer>,
  { position, row: before }: ReadFrom,
): AsyncGenerator<SourceRow> {
  let row = before;
  // A reader that does not begin at the body's start begins after an element.
  let place = (position === 0 ? 'before' : 'behind') as Place;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let pieces: Buffer[] = [];
  let bytes = 0;
  let chunkStart = position;

  const finish = (piece: Buffer, end: number): SourceRow => {
    const element = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
    pieces = [];
    bytes = 0;
    row += 1;
    place = 'behind';
    return { row, end, ...parseObject(element), text: () => element.toString().trim() };
  };

  for await (const chunk of source) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? space;
      if (place === 'within') {
        if (isText) {
          if (isEscaped) isEscaped = false;
          else if (byte === backslash) isEscaped = true;
          else if (byte === quote) isText = false;
          if (!isText && depth === 0) yield finish(chunk.subarray(start, at + 1), chunkStart + at + 1);
          continue;
        }
        // Numbers and words end at the next byte. Texts and brackets have their own end.
        if (depth > 0 || (byte !== comma && byte !== closeList)) {
          if (byte === quote) isText = true;
          else if (byte === openList || byte === openObject) depth += 1;
          else if (byte === closeList || byte === closeObject) depth -= 1;
          else continue;
          if (depth < 0) throw brokenBody('a bracket closes that none opens', { row: row + 1 });
          if (depth === 0 && !isText) yield finish(chunk.subarray(start, at + 1), chunkStart + at + 1);
          continue;
        }
        yield finish(chunk.subarray(start, at), chunkStart + at);
      }
      if (byte <= space) continue;
      const next = placeAfter(place, byte);
      if (!next) throw brokenBody(problemAt(place), { row: Math.max(row + 1, 1) });
      place = next;
      if (place !== 'within') continue;
      start = at;
      depth = 0;
      at -= 1;
    }
    if (place === 'within') {
      pieces.push(chunk.subarray(start));
      bytes += chunk.length - start;
      if (bytes > maxRowBytes) throw brokenBody(`the element has more than ${maxRowBytes} bytes`, { row: row + 1 });
    }
    chunkStart += chunk.length;
  }
  if (place !== 'after') throw brokenBody('the list is not closed', { row: row + 1 });
}

/** The place after a byte that is not white space, outside elements; undefined if the byte is not allowed. */
function placeAfter(place: Place, byte: number): Place | undefined {
  if (place === 'before') return byte === openList ? 'first' : undefined;
  if (place === 'after') return undefined;
  if (place === 'behind') return byte === comma ? 'next' : byte === closeList ? 'after' : undefined;
  if (byte === closeList) return place === 'first' ? 'after' : undefined;
  return byte === comma || byte === closeObject ? undefined : 'within';
}

function problemAt(place: Place): string {
  if (place === 'before') return 'the body must be a list';
  if (place === 'after') return 'the body continues after the list';
  return place === 'behind' ? "a comma or the list's end is missing" : 'an element is missing';
}
