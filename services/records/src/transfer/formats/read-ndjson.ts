import { parseObject } from './parse-object.ts';
import { brokenBody, maxRowBytes, type ReadFrom, type SourceRow } from './source-row.ts';

const [lineFeed, space] = [0x0a, 0x20];

/** Reads one JSON object from each line. Blank lines are skipped. */
export async function* readNdjson(
  source: AsyncIterable<Buffer>,
  { position, row: before }: ReadFrom,
): AsyncGenerator<SourceRow> {
  let row = before;
  let start = position;
  let rest: Buffer[] = [];
  let restBytes = 0;

  const take = (bytes: Buffer): SourceRow | undefined => {
    start += bytes.length;
    if (isBlank(bytes)) return undefined;
    row += 1;
    return { row, end: start, ...parseObject(bytes), text: () => bytes.toString().trimEnd() };
  };

  for await (const chunk of source) {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      const piece = chunk.subarray(from, at + 1);
      refuseLong(restBytes + piece.length, row + 1);
      const read = take(restBytes === 0 ? piece : Buffer.concat([...rest, piece]));
      rest = [];
      restBytes = 0;
      from = at + 1;
      if (read) yield read;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    refuseLong(restBytes, row + 1);
  }
  const last = restBytes > 0 ? take(Buffer.concat(rest)) : undefined;
  if (last) yield last;
}

function refuseLong(bytes: number, row: number): void {
  if (bytes > maxRowBytes) throw brokenBody(`the line has more than ${maxRowBytes} bytes`, { row });
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte <= space);
