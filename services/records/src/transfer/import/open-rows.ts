import { createCsvReader, openCsv } from '../formats/read-csv.ts';
import { readJson } from '../formats/read-json.ts';
import { readNdjson } from '../formats/read-ndjson.ts';
import type { ReadRows, SourceRow } from '../formats/source-row.ts';
import type { ImportOptions } from './import-options.ts';

type Dialect = Pick<ImportOptions, 'format' | 'separator' | 'nullText'>;

/** Opens a whole body: its columns, if it is CSV, the position of its first row, and the rows. */
export async function openRows(
  source: AsyncIterable<Buffer>,
  options: Dialect,
): Promise<{ columns: readonly string[]; start: number; rows: AsyncIterable<SourceRow> }> {
  if (options.format === 'csv') return openCsv(source, options);
  const rows = readerOf({ ...options, columns: [] })(source, { position: 0, row: 0 });
  return { columns: [], start: 0, rows };
}

/** Returns the reader of the rows of a body whose columns are known. */
export function readerOf(options: Dialect & Pick<ImportOptions, 'columns'>): ReadRows {
  if (options.format === 'csv') return createCsvReader(options.columns, options);
  return options.format === 'ndjson' ? readNdjson : readJson;
}
