import { hasAccounts } from '@recordbus/accounts';
import { AppError } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';
import { scopeMissing } from '@recordbus/request/key-rights';
import type { Collection } from '@recordbus/schema';
import type { ServicePrincipal } from '@recordbus/sessions';
import type { Storage } from '@recordbus/storage';
import type { OperationRules } from '../../batch/run-operation.ts';
import type { Job, JobActor } from '../../jobs/job.ts';
import { type JobRow, listUnfinished, refuseUnfinished } from '../../jobs/job-rows.ts';
import { beginPass, noteProgress } from '../../jobs/job-store.ts';
import type { RunJob } from '../../jobs/worker.ts';
import type { ServedCollections } from '../../record/served-collections.ts';
import { callOf, passesRules } from '../../rules/rule-context.ts';
import type { RunWrite } from '../../write/write-unit.ts';
import type { SourceRow } from '../formats/source-row.ts';
import type { ImportOptions } from './import-options.ts';
import { type ImportContext, noTarget, noTargetAfterAll } from './import-row.ts';
import { readBody } from './job-body.ts';
import { readerOf } from './open-rows.ts';
import { type Chunk, type ChunkRow, writeChunk } from './write-chunk.ts';

/** What running imports depends on. */
export interface RunImportDeps extends Omit<OperationRules, 'collections'> {
  readonly collections: ServedCollections;
  /** Writes on the background work's connections. */
  readonly write: RunWrite;
  readonly storage: Storage;
  /** Reads the collections again, since another replica may have checked the columns by newer ones. */
  reload(): Promise<void>;
  /** Finds a service key's principal; undefined when it is revoked or has expired. */
  findKey(id: string): Promise<ServicePrincipal | undefined>;
  /** Finds a collection by its id. */
  findById(id: string): Collection | undefined;
  /** Lets other work take precedence, after so many milliseconds' work. */
  yieldToRequests(workedMs: number): Promise<void>;
  /** Counts rows by result. */
  readonly rows: { inc(labels: { readonly result: string }, value: number): void };
}

type ImportJob = Job<ImportOptions>;

/** How many rows and bytes a chunk may have. */
const maxRows = 1000;
const maxBytes = 4 * 1024 * 1024;

/** The same with hooks or passwords, which take long, while a transaction should not. */
const maxSlowRows = 100;

/** How many passes an import may have. Rows that still wait after them are refused. */
const maxPasses = 50;

/**
 * Creates the function that runs imports. It reads the body from the job's position, and imports the rows chunk by
 * chunk.
 */
export const createRunImport =
  (deps: RunImportDeps): RunJob =>
  async (given, ending) => {
    let job = given as ImportJob;
    await deps.reload();
    for (;;) {
      const end = await runPass(deps, job, ending);
      if (!end) return 'interrupted';
      if (end.rows_waiting === 0) return 'done';
      const isStuck = end.pass > 2 && end.rows_waiting === end.pass_began_waiting;
      if (isStuck || end.pass >= maxPasses) {
        await refuseWaiting(deps, end);
        return 'done';
      }
      job = (await deps.write({ mode: 'transaction' }, ({ query }) =>
        beginPass(query, end, end.options.start),
      )) as ImportJob;
    }
  };

/** Reads the body once, from the job's position. Returns the updated job; undefined if the work was interrupted. */
async function runPass(deps: RunImportDeps, given: ImportJob, ending: AbortSignal): Promise<ImportJob | undefined> {
  let job = given;
  const source = readBody(deps.storage, { id: job.body_id, bytes: job.body_bytes, position: job.position });
  const rows = readerOf(job.options)(source, { position: job.position, row: job.last_row });
  const chunks = job.pass === 1 ? allChunks(deps, job, rows) : waitingChunks(deps, job, rows);
  let sinceMs = performance.now();
  for await (const chunk of chunks) {
    if (ending.aborted) return undefined;
    const activeMs = () => performance.now() - sinceMs;
    const progress = await doChunk(deps, job, { ...chunk, activeMs });
    const workedMs = activeMs();
    for (const result of ['done', 'skipped', 'refused'] as const) deps.rows.inc({ result }, progress[result]);
    job = {
      ...job,
      rows_waiting: job.rows_waiting + progress.waiting,
      rows_refused: job.rows_refused + progress.refused,
    };
    sinceMs = performance.now();
    await deps.yieldToRequests(workedMs);
  }
  return ending.aborted ? undefined : job;
}

type Rows = AsyncIterable<SourceRow>;
type ReadChunk = Omit<Chunk, 'activeMs'>;

async function* allChunks(deps: RunImportDeps, job: ImportJob, rows: Rows): AsyncGenerator<ReadChunk> {
  const most = maxChunkRows(deps, job);
  let taken: ChunkRow[] = [];
  let bytes = 0;
  let position = job.position;
  const slice = startSlice();
  for await (const source of rows) {
    if (slice.isOver()) await slice.pause();
    const size = source.end - position;
    if (taken.length >= most || (taken.length > 0 && bytes + size > maxBytes)) {
      yield chunkOf(taken);
      taken = [];
      bytes = 0;
    }
    taken.push({ source, bytes: size, noted: undefined });
    bytes += size;
    position = source.end;
  }
  if (taken.length > 0) yield chunkOf(taken);
}

/** The waiting rows' chunks. The rows between them are only read. */
async function* waitingChunks(deps: RunImportDeps, job: ImportJob, rows: Rows): AsyncGenerator<ReadChunk> {
  const most = maxChunkRows(deps, job);
  const list = (after: number) =>
    deps.write({ mode: 'statement' }, ({ query }) => listUnfinished(query, job.id, after, most));
  let waiting = new Map<number, JobRow>();
  const next = async (after: number) => {
    waiting = new Map((await list(after)).map((one) => [one.row, one]));
  };
  await next(job.last_row);
  let taken: ChunkRow[] = [];
  let bytes = 0;
  let position = job.position;
  const slice = startSlice();
  for await (const source of rows) {
    if (waiting.size === 0 && taken.length === 0) return;
    if (slice.isOver()) await slice.pause();
    const noted = waiting.get(source.row);
    const size = source.end - position;
    position = source.end;
    if (!noted) continue;
    taken.push({ source, bytes: size, noted });
    bytes += size;
    waiting.delete(source.row);
    if (waiting.size > 0 && bytes < maxBytes) continue;
    yield chunkOf(taken);
    if (waiting.size === 0) await next(source.row);
    taken = [];
    bytes = 0;
  }
  if (taken.length > 0) yield chunkOf(taken);
}

function maxChunkRows({ findById, hooks }: RunImportDeps, { collection_id: id }: ImportJob): number {
  const collection = findById(id);
  const isSlow =
    collection && (hasAccounts(collection) || hooks.find(collection, 'create') || hooks.find(collection, 'update'));
  return isSlow ? maxSlowRows : maxRows;
}

function chunkOf(rows: readonly ChunkRow[]): ReadChunk {
  const last = rows.at(-1)?.source;
  return { rows, position: last?.end ?? 0, lastRow: last?.row ?? 0 };
}

async function doChunk(deps: RunImportDeps, job: ImportJob, chunk: Chunk) {
  const { options } = job;
  const found = deps.findById(job.collection_id);
  if (!found) throw new AppError(404, 'not_found', 'the collection is gone');
  const principal = await presentActor(deps, job);
  const request = { collection: found.name, action: ['create', 'update'], principal } as const;
  return deps.collections.serve(request, (collection) => {
    const context: ImportContext = {
      jobId: job.id,
      pass: job.pass,
      collection,
      options,
      call: callOfJob(job, principal, deps),
      rules: { ...deps, hooks: options.isDryRun ? noHooks : deps.hooks },
    };
    return writeChunk(deps.write, job, context, chunk);
  });
}

/** A dry run has no hooks, since they may do what a rollback cannot undo, such as send mail. */
const noHooks = { find: () => undefined };

/** The current actor. A key's job has the key's current scopes at each chunk, and fails when the key is revoked. */
async function presentActor(
  { findKey }: RunImportDeps,
  { actor, collection_name: name }: ImportJob,
): Promise<JobActor> {
  if (actor.type === 'admin') return actor;
  const principal = await findKey(actor.id);
  if (!principal) throw new AppError(401, 'key_refused', "the job's service key is revoked or has expired");
  if (!passesRules({ principal }, { name }, 'write')) throw scopeMissing(`records:${name}:write`);
  return principal;
}

const callOfJob = ({ request }: ImportJob, principal: JobActor, deps: RunImportDeps) =>
  callOf('POST', { context: { ...request, principal }, queryText: () => undefined, header: () => undefined }, deps);

/** Refuses the rows whose targets are still missing. */
async function refuseWaiting({ write }: RunImportDeps, job: ImportJob): Promise<void> {
  await write({ mode: 'transaction' }, async ({ query }) => {
    const refused = await refuseUnfinished(query, job.id, { waiting: noTarget, incomplete: noTargetAfterAll });
    await noteProgress(query, job, {
      position: job.body_bytes,
      lastRow: job.rows_total,
      read: 0,
      done: 0,
      skipped: 0,
      refused,
      waiting: -refused,
      activeMs: 0,
    });
  });
}
