/** The separators that are found by themselves; among equally frequent ones, the first. */
const separators = [',', ';', '\t'] as const;

/** The first line by which Excel names a file's separator, and its separator. */
const separatorLine = /^"?sep=([^"\r\n])"?[\r\n]*$/iu;

/** A header is not longer. Beyond this many bytes the separators so far decide. */
const maxHeaderBytes = 65_536;

const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];

/** How a CSV body in UTF-8 begins. */
export interface CsvBeginning {
  /** The separator that the body names, or else the most frequent one in its first line. */
  readonly separator: string;
  /** How many bytes a line that only names the separator has. */
  readonly skipped: number;
  /** The whole body. */
  readonly source: AsyncIterable<Buffer>;
}

/** Reads a body's first line, which says how its cells are separated (import §3.1). */
export async function readCsvBeginning(source: AsyncIterable<Buffer>): Promise<CsvBeginning> {
  const pieces = source[Symbol.asyncIterator]();
  const taken: Buffer[] = [];
  const line = createFirstLine();
  let bytes = 0;
  while (!line.isWhole() && bytes < maxHeaderBytes) {
    const { done, value } = await pieces.next();
    if (done) break;
    taken.push(value);
    bytes += value.length;
    line.add(value);
  }
  const first = Buffer.concat(taken).subarray(0, line.end());
  const [, named] = first.length < 20 ? (separatorLine.exec(first.toString()) ?? []) : [];
  return {
    separator: named ?? line.separator(),
    skipped: named === undefined ? 0 : first.length,
    source: joined(taken, pieces),
  };
}

async function* joined(taken: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* taken;
    for (;;) {
      const { done, value } = await rest.next();
      if (done) return;
      yield value;
    }
  } finally {
    await rest.return?.();
  }
}

/** Looks for the end of the first line that is not empty, and counts the separators outside quotes in it. */
function createFirstLine() {
  const counts = separators.map(() => 0);
  const codes = separators.map((separator) => separator.charCodeAt(0));
  let at = 0;
  let [isQuoted, hasBegun, hasEnded] = [false, false, false];
  let end: number | undefined;
  const isLineEnd = (byte: number): boolean => byte === lineFeed || byte === carriageReturn;
  return {
    add(piece: Buffer): void {
      for (const byte of piece) {
        if (hasEnded && !isLineEnd(byte)) {
          end = at;
          return;
        }
        if (byte === quote) isQuoted = !isQuoted;
        else if (!isQuoted && isLineEnd(byte)) hasEnded ||= hasBegun;
        else if (!isQuoted) {
          const found = codes.indexOf(byte);
          if (found >= 0) counts[found] = (counts[found] ?? 0) + 1;
        }
        hasBegun ||= !isLineEnd(byte);
        at += 1;
      }
    },
    isWhole: (): boolean => end !== undefined,
    /** The position after the line and the line ends that follow it. */
    end: (): number => end ?? at,
    separator: (): string => separators[counts.indexOf(Math.max(...counts))] ?? separators[0],
  };
}
