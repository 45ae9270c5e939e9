import type { Query } from '@recordbus/database';
import { isFree, leaseEnd, queueTable } from '@recordbus/queue';
import type { Job, JobActor, JobError, JobRequest, JobState } from './job.ts';
import type { JobTable } from './job-table.ts';

const jobs = queueTable({ table: 'system.jobs', key: 'id', fence: 'fence' });

const columns = `id, kind, state, collection_id, collection_name, actor, request, options, body_id, body_bytes, pass, position,
  last_row, rows_total, rows_read, rows_done, rows_skipped, rows_refused, rows_waiting, pass_began_waiting, error, failures,
  fence, active_ms,
  extract(epoch from created_at)::bigint as created_at, extract(epoch from started_at)::bigint as started_at,
  extract(epoch from finished_at)::bigint as finished_at`;

/** How long a replica holds a job after its last sign of life, in seconds. */
const leaseSec = 15;

/** How often a replica renews its job, in milliseconds. */
export const renewMs = 4000;

interface NewJob {
  readonly id: string;
  readonly kind: Job['kind'];
  readonly collection: { readonly id: string; readonly name: string };
  readonly actor: JobActor;
  readonly request: JobRequest;
  readonly options: object;
  readonly body: { readonly id: string; readonly bytes: number };
  readonly rows: number;
  /** The position in the body at which its rows begin. */
  readonly position: number;
}

/** Adds a job to the queue. */
export async function addJob(query: Query, job: NewJob): Promise<Job> {
  const [row] = await query<Job>({
    text: `insert into system.jobs (id, kind, collection_id, collection_name, actor, request, options, body_id, body_bytes,
        rows_total, position)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    values: [
      job.id,
      job.kind,
      job.collection.id,
      job.collection.name,
      JSON.stringify(job.actor),
      JSON.stringify(job.request),
      JSON.stringify(job.options),
      job.body.id,
      job.body.bytes,
      job.rows,
      job.position,
    ],
  });
  if (!row) throw new Error('the job insert returned no row');
  return row;
}

/** Finds a job. */
export async function findJob(query: Query, id: string): Promise<Job | undefined> {
  const [row] = await query<Job>({ text: `select ${columns} from system.jobs where id = $1`, values: [id] });
  return row;
}

/** Finds several jobs, in any order. */
export const findJobs = (query: Query, ids: readonly string[]): Promise<Job[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : query<Job>({ text: `select ${columns} from system.jobs where id = any($1::uuid[])`, values: [ids] });

/**
 * Takes a job that is queued, or whose lease has expired. Actors take turns: the one whose last job began first is
 * next, with its oldest job. While a job runs, only another actor's job is taken, and while a service key's job runs,
 * only an admin's. A higher fence keeps the previous replica from committing anything more.
 */
export async function takeJob(query: Query, beside: readonly JobActor[] = []): Promise<Job | undefined> {
  const [row] = await query<Job>({
    text: jobs.claim({
      due: `select j.id as key from system.jobs j
        cross join lateral (
          select max(o.started_at) as last_started_at from system.jobs o where o.actor->>'id' = j.actor->>'id'
        ) turns
        where j.state in ('queued', 'running') and ${isFree('j')}
          and j.actor->>'id' <> all($1::text[]) and (j.actor->>'type' = 'admin' or not $2)
        order by turns.last_started_at nulls first, j.created_at, j.id limit 1 for update of j skip locked`,
      leaseSec,
      set: ["state = 'running'", 'started_at = coalesce(started_at, clock_timestamp())'],
      returning: columns,
    }),
    values: [beside.map(({ id }) => id), beside.some(({ type }) => type === 'service')],
  });
  return row;
}

/** Identifies a job and the replica that holds it. */
export type HeldJob = Pick<Job, 'id' | 'fence'>;

const isHeld = `${jobs.isHeld} and state = 'running'`;

/** Thrown when this replica no longer holds its job, because it was paused, cancelled, or taken by another replica. */
export class LostJob extends Error {}

/** Renews the lease. Returns whether this replica still holds the job. */
export async function renewJob(query: Query, { id, fence }: HeldJob): Promise<boolean> {
  const rows = await query({
    text: `update system.jobs set lease_until = ${leaseEnd(leaseSec)} where ${isHeld} returning 1`,
    values: [id, fence],
  });
  return rows.length > 0;
}

/** A chunk's progress. Counts are added. */
export interface JobProgress {
  readonly position: number;
  readonly lastRow: number;
  readonly read: number;
  readonly done: number;
  readonly skipped: number;
  readonly refused: number;
  readonly waiting: number;
  readonly activeMs: number;
}

/**
 * Notes a chunk's progress, in its transaction, and renews the lease. Throws LostJob if this replica no longer holds
 * the job, so nothing in the chunk is committed.
 */
export async function noteProgress(query: Query, { id, fence }: HeldJob, progress: JobProgress): Promise<void> {
  const rows = await query({
    name: 'jobs.progress',
    text: `update system.jobs set position = $3, last_row = $4, rows_read = rows_read + $5, rows_done = rows_done + $6,
        rows_skipped = rows_skipped + $7, rows_refused = rows_refused + $8, rows_waiting = rows_waiting + $9,
        active_ms = active_ms + $10, failures = 0, lease_until = ${leaseEnd(leaseSec)}
      where ${isHeld} returning 1`,
    values: [
      id,
      fence,
      progress.position,
      progress.lastRow,
      progress.read,
      progress.done,
      progress.skipped,
      progress.refused,
      progress.waiting,
      Math.round(progress.activeMs),
    ],
  });
  if (rows.length === 0) throw new LostJob('the job is no longer held');
}

/** Begins the next pass over the body, at a position. */
export async function beginPass(query: Query, { id, fence }: HeldJob, position: number): Promise<Job> {
  const [row] = await query<Job>({
    text: `update system.jobs set pass = pass + 1, position = $3, last_row = 0, pass_began_waiting = rows_waiting
      where ${isHeld} returning ${columns}`,
    values: [id, fence, position],
  });
  if (!row) throw new LostJob('the job is no longer held');
  return row;
}

/** Ends a job that this replica holds. */
export async function endJob(query: Query, { id, fence }: HeldJob, error: JobError | undefined): Promise<void> {
  await query({
    text: `update system.jobs set state = $3, error = $4, finished_at = clock_timestamp(), lease_until = null
      where ${isHeld}`,
    values: [id, fence, error ? 'failed' : 'done', error ? JSON.stringify(error) : null],
  });
}

/** Returns a job to the queue, after a pause in seconds. Counts a failed attempt if it is one. */
export async function leaveJob(
  query: Query,
  { id, fence }: HeldJob,
  { pauseSec, isFailure }: { readonly pauseSec: number; readonly isFailure: boolean },
): Promise<void> {
  await query({
    text: `update system.jobs set lease_until = ${leaseEnd('$3')}, failures = failures + $4
      where ${isHeld}`,
    values: [id, fence, pauseSec, isFailure ? 1 : 0],
  });
}

/** The states that allow each admin command, and the state that it leads to. */
const commands = {
  pause: { from: ['queued', 'running'], to: 'paused' },
  resume: { from: ['paused'], to: 'queued' },
  cancel: { from: ['queued', 'running', 'paused'], to: 'cancelled' },
} as const satisfies Record<string, { from: readonly JobState[]; to: JobState }>;

export type JobCommand = keyof typeof commands;

/** Changes a job's state by an admin's command; undefined if its state does not allow it. */
export async function commandJob(query: Query, id: string, command: JobCommand): Promise<Job | undefined> {
  const { from, to } = commands[command];
  const [row] = await query<Job>({
    text: `update system.jobs set state = $3, lease_until = null,
        finished_at = case when $3 = 'cancelled' then clock_timestamp() end
      where id = $1 and state = any($2) returning ${columns}`,
    values: [id, from, to],
  });
  return row;
}

/** Deletes jobs that finished more than `days` days ago, and lists for removal the bodies that no other job uses. */
export async function removeOldJobs(query: Query, days: number, bodiesOf: string, bodyName: string): Promise<void> {
  await query({
    text: `with gone as (
        delete from system.jobs where finished_at < now() - make_interval(days => $1) returning id, body_id
      )
      insert into system.file_removals (collection_id, record_id, name)
      select distinct $2, g.body_id::text, $3 from gone g
      where not exists (
        select from system.jobs j where j.body_id = g.body_id and j.id not in (select id from gone)
      )`,
    values: [days, bodiesOf, bodyName],
  });
}

/** The table of imports, for the worker. Each actor's jobs run one at a time. */
export const importJobs: JobTable<Job> = {
  take: (query, running) =>
    takeJob(
      query,
      running.map(({ actor }) => actor),
    ),
  renew: renewJob,
  end: endJob,
  leave: leaveJob,
};
