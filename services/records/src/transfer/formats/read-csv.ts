import { Readable } from 'node:stream';
import { type CastingContext, CsvError, type Info, type Options, parse } from 'csv-parse';
import { readCsvBeginning } from './csv-beginning.ts';
import { brokenBody, maxColumns, maxRowBytes, type ReadFrom, type SourceRow } from './source-row.ts';
import { inPieces } from './to-utf8.ts';

/** A CSV body's dialect. */
export interface CsvDialect {
  readonly separator: string;
  /** The unquoted cell that means null. */
  readonly nullText: string;
}

/** A cell: null, or its text. */
type CsvCell = string | null;

/** A line, and the position after it in the body. */
interface CsvLine {
  readonly record: readonly CsvCell[];
  readonly info: Info;
}

/** A CSV body whose header has been read. */
interface OpenCsv {
  readonly columns: readonly string[];
  readonly separator: string;
  /** The first row's position. */
  readonly start: number;
  readonly rows: AsyncIterable<SourceRow>;
}

/**
 * Opens a whole body, header included. Without a separator, the body says or shows it. Throws 422 for a body without a
 * header.
 */
export async function openCsv(
  whole: AsyncIterable<Buffer>,
  { separator: given, nullText }: Pick<CsvDialect, 'nullText'> & Partial<CsvDialect>,
): Promise<OpenCsv> {
  const { source, skipped, separator: found } = await readCsvBeginning(whole);
  const dialect = { separator: given ?? found, nullText };
  const lines = readLines(without(source, skipped), dialect, 0);
  const header = await lines.next();
  if (header.done) throw brokenBody('the body is empty', { row: 0 });
  const { record, info } = header.value;
  const columns = columnsOf(record);
  const rows = rowsOf(lines, columns, dialect, { position: skipped, row: 0 });
  return { columns, separator: dialect.separator, start: skipped + info.bytes, rows };
}

/** A header's names. Spreadsheets leave spaces around names, and empty columns at the end. */
function columnsOf(record: readonly CsvCell[]): readonly string[] {
  const names = record.map((cell) => (cell ?? '').trim());
  const columns = names.slice(0, names.findLastIndex((name) => name !== '') + 1);
  if (columns.length === 0) throw brokenBody('no column has a name', { row: 0 });
  return columns;
}

/** Leaves out a body's first bytes. */
async function* without(source: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const piece of source) {
    if (left < piece.length) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}

/** Creates the reader for a body with these columns. It begins after the header. */
export const createCsvReader =
  (columns: readonly string[], dialect: CsvDialect) =>
  (source: AsyncIterable<Buffer>, from: ReadFrom): AsyncIterable<SourceRow> =>
    rowsOf(readLines(source, dialect, from.row + 1), columns, dialect, from);

async function* rowsOf(
  lines: AsyncGenerator<CsvLine>,
  columns: readonly string[],
  dialect: CsvDialect,
  { position, row: before }: ReadFrom,
): AsyncGenerator<SourceRow> {
  let row = before;
  for await (const { record, info } of lines) {
    row += 1;
    const cells = withoutEmptyEnd(record, columns.length);
    yield { row, end: position + info.bytes, ...membersOf(columns, cells), text: () => lineOf(cells, dialect) };
  }
}

/** Leaves out empty cells after the header's last column. */
const withoutEmptyEnd = (record: readonly CsvCell[], length: number): readonly CsvCell[] =>
  record.length > length && record.slice(length).every((cell) => cell === null || cell === '')
    ? record.slice(0, length)
    : record;

function membersOf(columns: readonly string[], record: readonly CsvCell[]): Pick<SourceRow, 'members' | 'problem'> {
  if (record.length !== columns.length)
    return { members: {}, problem: `has ${record.length} cells, and the header has ${columns.length}` };
  return { members: Object.fromEntries(columns.map((name, n) => [name, record[n]])) };
}

/** The parser reads a piece at once. It may have as many cells as bytes, and each takes some microseconds. */
const pieceBytes = 2048;

/** Reads lines. `firstRow` is the first one's number, for messages. */
async function* readLines(
  source: AsyncIterable<Buffer>,
  { separator, nullText }: CsvDialect,
  firstRow: number,
): AsyncGenerator<CsvLine> {
  const options = {
    delimiter: separator,
    // A body may mix them.
    record_delimiter: ['\r\n', '\n', '\r'],
    bom: false,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
    info: true,
    cast(text: string, { quoting, index, records }: CastingContext) {
      // Empty cells do not add to a row's size.
      if (index >= maxColumns)
        throw brokenBody(`there are more than ${maxColumns} columns`, { row: firstRow + records, column: index + 1 });
      return !quoting && text === nullText ? null : text;
    },
  } satisfies Options;
  const parser = parse(options as Options);
  const input = Readable.from(inPieces(source, pieceBytes), { objectMode: false });
  input.once('error', (error) => parser.destroy(error));
  input.pipe(parser);
  try {
    yield* parser as AsyncIterable<CsvLine>;
  } catch (error) {
    throw error instanceof CsvError ? explain(error, firstRow) : error;
  } finally {
    input.destroy();
    parser.destroy();
  }
}

/** Messages by the parser's error codes. */
const messages: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is never closed',
  CSV_MAX_RECORD_SIZE: `the row has more than ${maxRowBytes} bytes; perhaps a quote is never closed`,
  CSV_INVALID_CLOSING_QUOTE: "after a cell's closing quote, a separator or the line's end must follow",
  INVALID_OPENING_QUOTE: 'a cell with a quote in it must be in quotes, and the quote doubled',
};

/** The parser counts the lines that it has read, and the current line's cells. */
function explain(error: CsvError, firstRow: number): Error {
  const message = messages[error.code];
  if (message === undefined) return error;
  const { records, column } = error as unknown as { readonly records: number; readonly column: number };
  return brokenBody(message, { row: firstRow + records, column: column + 1 });
}

/** Writes a record's line. */
export const lineOf = (record: readonly CsvCell[], { separator, nullText }: CsvDialect): string =>
  record
    .map((cell) => {
      if (cell === null) return nullText;
      const isPlain = cell !== '' && cell !== nullText && !cell.includes(separator) && !/["\r\n]/.test(cell);
      return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`;
    })
    .join(separator);
