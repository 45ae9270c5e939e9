import type { Job } from '../admin/jobs.ts';
import type { CallOptions, Transport } from '../transport.ts';
import type { FilterOf } from '../types/filter-fields.ts';
import { apiPath, mergeQueries } from '../url.ts';
import type { WriteOptions } from './options.ts';
import { type AnyReadOptions, readQuery } from './query.ts';

type Format = 'csv' | 'ndjson' | 'json';

/** An import's options (import §1.3). */
export interface ImportOptions extends WriteOptions {
  readonly format: Format;
  readonly mode?: 'insert' | 'upsert' | 'skip' | undefined;
  /** How `upsert` and `skip` find a record: `id`, or unique fields. */
  readonly on?: readonly string[] | undefined;
  /** Field names by column; null leaves a column out. */
  readonly map?: Readonly<Record<string, string | null>> | undefined;
  readonly keep?: readonly ('id' | 'created' | 'updated')[] | undefined;
  readonly dryRun?: boolean | undefined;
  readonly events?: 'none' | undefined;
  readonly separator?: string | undefined;
  /** The cell that is null. */
  readonly null?: string | undefined;
  readonly encoding?: string | undefined;
  /** Numeric dates in the rows: 2026-01-31, 01/31/2026 or 31.01.2026; `iso` by default. */
  readonly dates?: 'iso' | 'mdy' | 'dmy' | undefined;
  /** An earlier import's id whose rows to read again, instead of sending rows. */
  readonly upload?: string | undefined;
}

/** The options of an export (export §1.2). */
export interface ExportOptions<S, C extends keyof S> extends CallOptions {
  readonly format?: Format | undefined;
  readonly filter?: FilterOf<S, C> | undefined;
  readonly sort?: string | readonly string[] | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly expand?: readonly string[] | undefined;
  /** Leaves CSV texts as they are, even if a spreadsheet would run them. */
  readonly raw?: boolean | undefined;
  /** Begins CSV with a byte order mark, by which Excel knows that the text is UTF-8. */
  readonly bom?: boolean | undefined;
}

const types: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/** Sends rows to import. The job runs after the answer. */
export function importRows(
  transport: Transport,
  name: string,
  rows: string | Blob | undefined,
  options: ImportOptions,
): Promise<Job> {
  const { query, signal, onProgress, idempotencyKey, dryRun, map, ...more } = options;
  return transport.data<Job>({
    method: 'POST',
    path: apiPath('records', name, 'import'),
    query: mergeQueries(query, { ...more, map: map && JSON.stringify(map), dry_run: dryRun }),
    body: rows === undefined ? undefined : { content: rows, type: types[options.format] },
    key: idempotencyKey ?? true,
    signal,
    onProgress,
  });
}

/** Streams all a list's records, as of one moment. */
export function exportRows(
  transport: Transport,
  name: string,
  options: AnyReadOptions & { readonly format?: Format; readonly raw?: boolean; readonly bom?: boolean } = {},
): Promise<Response> {
  const { format, raw, bom } = options;
  const query = mergeQueries(readQuery(options), { format, raw, bom });
  return transport.open({ method: 'GET', path: apiPath('records', name, 'export'), query, signal: options.signal });
}
