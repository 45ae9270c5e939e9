import { createCsvReader, openCsv } from '../formats/read-csv.ts';
import { readJson } from '../formats/read-json.ts';
import { readNdjson } from '../formats/read-ndjson.ts';
import type { ReadRows, SourceRow } from '../formats/source-row.ts';
import type { ImportOptions } from './import-options.ts';

type Dialect = Pick<ImportOptions, 'format' | 'separator' | 'nullText'>;

/** A body without a separator in its request. */
export type OpenDialect = Omit<Dialect, 'separator'> & { readonly separator: string | undefined };

/** A body that has been opened: what its header says, and the rows. */
interface OpenRows {
  readonly columns: readonly string[];
  readonly separator: string;
  /** The first row's position. */
  readonly start: number;
  readonly rows: AsyncIterable<SourceRow>;
}

/** Opens a whole body. */
export async function openRows(source: AsyncIterable<Buffer>, options: OpenDialect): Promise<OpenRows> {
  const { format, nullText, separator = ',' } = options;
  if (format === 'csv') return openCsv(source, options);
  const rows = readerOf({ format, nullText, separator, columns: [] })(source, { position: 0, row: 0 });
  return { columns: [], separator, start: 0, rows };
}

/** Returns the row reader for a body whose columns are known. */
export function readerOf(options: Dialect & Pick<ImportOptions, 'columns'>): ReadRows {
  if (options.format === 'csv') return createCsvReader(options.columns, options);
  return options.format === 'ndjson' ? readNdjson : readJson;
}
