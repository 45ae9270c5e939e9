import { Readable } from 'node:stream';
import type { Query } from '@recordbus/database';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Storage } from '@recordbus/storage';
import type { Job } from '../../jobs/job.ts';
import { type JobRow, listRefused } from '../../jobs/job-rows.ts';
import { lineOf } from '../formats/read-csv.ts';
import type { Format, SourceRow } from '../formats/source-row.ts';
import { refusalColumn } from './columns.ts';
import type { ImportOptions } from './import-options.ts';
import { wholeRow } from './import-row.ts';
import { readBody } from './job-body.ts';
import { readerOf } from './open-rows.ts';

/** The rows' content type in each format. */
export const refusedContentTypes: Readonly<Record<Format, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

interface RefusedDeps {
  readonly query: Query;
  readonly storage: Storage;
}

/** Streams an import's refused rows in its body's format, each with the reasons in `_refused`. */
export function openRefusedRows(deps: RefusedDeps, job: Job<ImportOptions>): Readable {
  return Readable.from(inFormat(deps, job), { objectMode: false });
}

async function* inFormat(deps: RefusedDeps, job: Job<ImportOptions>): AsyncGenerator<string> {
  const { format, columns } = job.options;
  if (format === 'csv') yield `${lineOf([...columns, refusalColumn], job.options)}\r\n`;
  if (format === 'json') yield '[';
  let count = 0;
  for await (const { source, refused } of readRefused(deps, job)) {
    const text = format === 'csv' ? csvOf(source, refused, job.options) : jsonOf(source, refused);
    yield format === 'json' ? `${count === 0 ? '\n' : ',\n'}${text}` : `${text}${format === 'csv' ? '\r\n' : '\n'}`;
    count += 1;
  }
  if (format === 'json') yield count === 0 ? ']\n' : '\n]\n';
}

const listed = 1000;

/** Reads the body, and yields its refused rows. */
async function* readRefused({ query, storage }: RefusedDeps, job: Job<ImportOptions>) {
  let waiting = await listRefused(query, job.id, 0, listed);
  if (waiting.length === 0) return;
  const { options, body_id: id, body_bytes: bytes } = job;
  const source = readBody(storage, { id, bytes, position: options.start });
  const slice = startSlice();
  for await (const row of readerOf(options)(source, { position: options.start, row: 0 })) {
    if (slice.isOver()) await slice.pause();
    const [refused] = waiting;
    if (refused?.row !== row.row) continue;
    yield { source: row, refused };
    waiting.shift();
    if (waiting.length === 0) waiting = await listRefused(query, job.id, row.row, listed);
    if (waiting.length === 0) return;
  }
}

/** The reasons as one text: `name: is required; age: must be a number`. */
const sentenceOf = ({ details }: JobRow): string =>
  Object.entries(details)
    .map(([name, message]) => (name === wholeRow ? message : `${name}: ${message}`))
    .join('; ');

const csvOf = (source: SourceRow, refused: JobRow, options: ImportOptions): string =>
  `${source.text()}${options.separator}${lineOf([sentenceOf(refused)], options)}`;

/** The object's original text with one more member. A text that is not an object becomes a member in one. */
function jsonOf(source: SourceRow, { details }: JobRow): string {
  const reasons = `${JSON.stringify(refusalColumn)}:${JSON.stringify(details)}`;
  const text = source.text();
  if (source.problem !== undefined) return `{"_source":${JSON.stringify(text)},${reasons}}`;
  const members = text.slice(1, -1).trim();
  return `{${members}${members === '' ? '' : ','}${reasons}}`;
}
