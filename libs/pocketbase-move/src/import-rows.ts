import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AppError } from '@recordbus/errors';
import {
  type ApiAddress,
  CommandFailure,
  callApi,
  followJob,
  type ImportJob,
  type Progress,
  parseObject,
  sendRequest,
  whenFree,
} from '@recordbus/stack-calls';
import type { RefusedRecord } from './report.ts';
import type { MoveState } from './state.ts';

/** A record as an import's row. */
export type ImportBody = Readonly<Record<string, unknown>> & { readonly id: string };

interface ImportTarget {
  readonly address: ApiAddress;
  readonly progress: Progress;
  /** Notes the job that runs, for a signal to cancel and for the next run to wait for. */
  noteJob(id: string | undefined): void;
  readonly terminal: { note(text: string): void };
}

interface RowsImport {
  readonly collection: string;
  readonly mode: 'skip' | 'upsert';
  readonly keep: string;
  readonly isSilent: boolean;
  /** Called for each attempt, since an import may be refused for now. */
  rows(): Iterable<ImportBody>;
}

/** A row that is longer ends the import of its whole body (import §1.2). */
const maxRowBytes = 1024 * 1024;

const batchBytes = 256 * 1024;

/** Imports rows as a job and follows it to its end. Returns what was refused. */
export async function importRows(target: ImportTarget, given: RowsImport): Promise<readonly RefusedRecord[]> {
  const { address, progress, terminal } = target;
  const { collection, mode, keep, isSilent } = given;
  const query = new URLSearchParams({ format: 'ndjson', mode, keep, ...(isSilent && { events: 'none' }) });
  const path = `/api/v1/records/${encodeURIComponent(collection)}/import?${query}`;
  const tooLong: RefusedRecord[] = [];
  const send = async (): Promise<ImportJob> => {
    tooLong.length = 0;
    const body = Readable.toWeb(Readable.from(linesOf(given.rows(), tooLong))) as ReadableStream<Uint8Array>;
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': randomUUID() };
    const answer = await sendRequest(address, { method: 'POST', path, headers, body });
    return parseObject(await answer.text())?.data as ImportJob;
  };
  const { id } = await whenFree(send, terminal);
  target.noteJob(id);
  const named: Progress = { show: (text, part) => progress.show(`${collection}: ${text}`, part), end: progress.end };
  const job = await followJob(address, id, named);
  target.noteJob(undefined);
  if (job.state !== 'done')
    throw new CommandFailure(
      `The import of ${collection} is ${job.state}${job.error ? `: ${job.error.message}` : ''}. The same command continues it.`,
    );
  return [...tooLong, ...(job.rows.refused > 0 ? await readRefused(address, id) : [])];
}

/**
 * Waits for the jobs that a killed run left: they would write older values after this run's. A run that was killed before
 * it noted its job has left one, too, so every import into the collections is waited for.
 */
export async function awaitLeftJobs(
  { address, progress }: Pick<ImportTarget, 'address' | 'progress'>,
  state: Pick<MoveState, 'leftJob' | 'noteJob'>,
  collections: readonly string[],
): Promise<void> {
  const left = state.leftJob();
  const ids = new Set(left === undefined ? [] : [left]);
  for (const waiting of ['queued', 'running'])
    for (const { id, collection } of await listJobs(address, waiting))
      if (collections.includes(collection)) ids.add(id);
  for (const id of ids) await awaitJob(address, progress, id);
  state.noteJob(undefined);
}

async function listJobs(address: ApiAddress, state: string) {
  const path = `/api/v1/jobs?${new URLSearchParams({ state, perPage: '1000' })}`;
  return (await callApi(address, 'GET', path)) as readonly { readonly id: string; readonly collection: string }[];
}

async function awaitJob(address: ApiAddress, progress: Progress, id: string): Promise<void> {
  const named: Progress = {
    show: (text, part) => progress.show(`the last run's import: ${text}`, part),
    end: progress.end,
  };
  try {
    await followJob(address, id, named);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
  }
}

function* linesOf(rows: Iterable<ImportBody>, tooLong: RefusedRecord[]): Generator<Buffer> {
  let lines: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const line = `${JSON.stringify(row)}\n`;
    if (line.length * 3 > maxRowBytes && Buffer.byteLength(line) > maxRowBytes) {
      tooLong.push({ id: row.id, reasons: { _row: 'is longer than 1 MiB' } });
      continue;
    }
    lines.push(line);
    bytes += line.length;
    if (bytes < batchBytes) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    bytes = 0;
  }
  yield Buffer.from(lines.join(''));
}

/** Reads a job's refused rows. Each has its reasons. */
async function readRefused(address: ApiAddress, job: string): Promise<RefusedRecord[]> {
  const answer = await sendRequest(address, { method: 'GET', path: `/api/v1/jobs/${job}/refused` });
  const refused: RefusedRecord[] = [];
  let rest = '';
  const note = (line: string) => {
    const row = parseObject(line);
    const reasons = row?._refused;
    if (typeof row?.id === 'string' && typeof reasons === 'object' && reasons !== null)
      refused.push({
        id: row.id,
        reasons: Object.fromEntries(Object.entries(reasons).map(([at, why]) => [at, String(why)])),
      });
  };
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(note);
  }
  note(rest);
  return refused;
}

/** How many ids one list asks for: they are in the address. */
const idsTogether = 150;

/** Reads when records were changed here last, by id. Records that are gone are missing. */
export async function readUpdated(
  address: ApiAddress,
  collection: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let at = 0; at < ids.length; at += idsTogether) {
    const some = ids.slice(at, at + idsTogether);
    const query = new URLSearchParams({
      filter: `id in (${some.map((id) => JSON.stringify(id)).join(', ')})`,
      fields: 'id,updated',
      perPage: String(idsTogether),
    });
    const rows = (await callApi(address, 'GET', `/api/v1/records/${encodeURIComponent(collection)}?${query}`)) as {
      readonly id: string;
      readonly updated: number;
    }[];
    for (const { id, updated } of rows) found.set(id, updated);
  }
  return found;
}
