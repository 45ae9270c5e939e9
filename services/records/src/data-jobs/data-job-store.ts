import { eventsKeptForMs } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { isFree, leaseEnd, queueTable } from '@recordbus/queue';
import { type HeldJob, LostJob } from '../jobs/job-store.ts';
import type { JobTable } from '../jobs/job-table.ts';
import type { DataJob } from './data-job.ts';

const jobs = queueTable({ table: 'system.data_jobs', key: 'id', fence: 'fence' });

const columns = `id, kind, cause, state, collection_id, collection_name, record_id, actor, request, options, step, position,
  progress, result, error, failures, fence, extract(epoch from created_at)::bigint as created_at,
  extract(epoch from started_at)::bigint as started_at, extract(epoch from finished_at)::bigint as finished_at`;

/** How long a replica holds a job after its last sign of life, in seconds. */
const leaseSec = 15;

type NewDataJob = Pick<
  DataJob,
  'id' | 'kind' | 'cause' | 'collection_id' | 'collection_name' | 'record_id' | 'actor' | 'request' | 'options'
> &
  Partial<Pick<DataJob, 'position'>>;

/** Adds a job to the queue. */
export async function addDataJob(query: Query, job: NewDataJob): Promise<DataJob> {
  const [row] = await query<DataJob>({
    text: `insert into system.data_jobs (id, kind, cause, collection_id, collection_name, record_id, actor, request, options,
        position)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${columns}`,
    values: [
      job.id,
      job.kind,
      job.cause,
      job.collection_id,
      job.collection_name,
      job.record_id,
      JSON.stringify(job.actor),
      JSON.stringify(job.request),
      JSON.stringify(job.options),
      job.position ?? '',
    ],
  });
  if (!row) throw new Error('the job insert returned no row');
  return row;
}

/** Stores a job's progress, in the transaction that adds it. */
export async function setProgress(query: Query, id: string, progress: object): Promise<void> {
  await query({
    text: 'update system.data_jobs set progress = $2 where id = $1',
    values: [id, JSON.stringify(progress)],
  });
}

/** Finds a job. */
export async function findDataJob(query: Query, id: string): Promise<DataJob | undefined> {
  const [row] = await query<DataJob>({ text: `select ${columns} from system.data_jobs where id = $1`, values: [id] });
  return row;
}

/** Finds an account's export that has not ended. */
export async function findUnfinishedExport(
  query: Query,
  collectionId: string,
  accountId: string,
): Promise<DataJob | undefined> {
  const [row] = await query<DataJob>({
    text: `select ${columns} from system.data_jobs
      where kind = 'export' and collection_id = $1 and record_id = $2 and state in ('queued', 'running')
      order by created_at desc limit 1`,
    values: [collectionId, accountId],
  });
  return row;
}

/** Finds several jobs, in any order. */
export const findDataJobs = (query: Query, ids: readonly string[]): Promise<DataJob[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : query<DataJob>({ text: `select ${columns} from system.data_jobs where id = any($1::uuid[])`, values: [ids] });

const isHeld = `${jobs.isHeld} and state = 'running'`;

/** What a step has reached. */
interface StepProgress {
  readonly step: string;
  readonly position: string;
  readonly progress: object;
}

/**
 * Notes a step's progress, in its transaction, and renews the lease. Throws LostJob if this replica no longer holds the job,
 * so nothing of the step is committed.
 */
export async function noteStep(
  query: Query,
  { id, fence }: HeldJob,
  { step, position, progress }: StepProgress,
): Promise<void> {
  const rows = await query({
    text: `update system.data_jobs set step = $3, position = $4, progress = $5, failures = 0,
        lease_until = ${leaseEnd(leaseSec)}
      where ${isHeld} returning 1`,
    values: [id, fence, step, position, JSON.stringify(progress)],
  });
  if (rows.length === 0) throw new LostJob('the job is no longer held');
}

/** Stores a job's outcome. Its progress is no longer needed. */
export async function noteResult(query: Query, { id, fence }: HeldJob, result: object): Promise<void> {
  const rows = await query({
    text: `update system.data_jobs set result = $3, progress = '{}', position = '' where ${isHeld} returning 1`,
    values: [id, fence, JSON.stringify(result)],
  });
  if (rows.length === 0) throw new LostJob('the job is no longer held');
}

/** How long the stream has messages about erased records at most, with a day to spare. */
const streamDays = eventsKeptForMs / 86_400_000 + 1;

/** How long a restore can repeat the erasure of an account that deleted itself, in days. */
const accountDays = 1096;

/**
 * Removes jobs that ended long ago, with their lists of erased records: exports and retentions' jobs, which a restore does not
 * repeat, and years later those of accounts that deleted themselves. Also notes which records the stream no longer has.
 */
export async function removeOldDataJobs(query: Query, retentionDays: number): Promise<void> {
  const keptDays = Math.max(retentionDays, streamDays);
  const causes = [
    // Each may have a list with tens of thousands of records.
    { which: "cause = 'retain'", days: keptDays, atOnce: 10 },
    { which: "kind = 'export'", days: keptDays, atOnce: 1000 },
    { which: "cause = 'account'", days: accountDays, atOnce: 1000 },
  ];
  for (const { which, days, atOnce } of causes)
    await query({
      text: `delete from system.data_jobs where id in (
          select id from system.data_jobs where ${which} and finished_at < now() - $1::double precision * interval '1 day'
          order by finished_at limit ${atOnce})`,
      values: [days],
    });
  await query({
    text: `update system.erased_records set has_messages = false where ctid = any(array(
        select ctid from system.erased_records where has_messages and erased_at < now() - $1::double precision * interval '1 day'
        order by erased_at limit 10000))`,
    values: [streamDays],
  });
}

/** What runs one at a time on a replica: retentions' erasures, those of accounts, others, and exports. None waits for another. */
export const jobPlaces = 4;
const placeOf = ({ kind, cause }: Pick<DataJob, 'kind' | 'cause'>): string =>
  cause === 'retain' || cause === 'account' ? cause : kind;

/** The table of these jobs, for the worker. */
export const dataJobs: JobTable<DataJob> = {
  async take(query, running) {
    const [row] = await query<DataJob>({
      text: jobs.claim({
        due: `select id as key from system.data_jobs j where j.state in ('queued', 'running') and ${isFree('j')}
            and case when j.cause in ('retain', 'account') then j.cause else j.kind end <> all($1::text[])
          order by j.created_at, j.id limit 1 for update of j skip locked`,
        leaseSec,
        set: ["state = 'running'", 'started_at = coalesce(started_at, clock_timestamp())'],
        returning: columns,
      }),
      values: [running.map(placeOf)],
    });
    return row;
  },
  async renew(query, { id, fence }) {
    const rows = await query({
      text: `update system.data_jobs set lease_until = ${leaseEnd(leaseSec)} where ${isHeld} returning 1`,
      values: [id, fence],
    });
    return rows.length > 0;
  },
  async end(query, { id, fence }, error) {
    await query({
      text: `update system.data_jobs set state = $3, error = $4, progress = '{}', finished_at = clock_timestamp(),
          lease_until = null
        where ${isHeld}`,
      values: [id, fence, error ? 'failed' : 'done', error ? JSON.stringify(error) : null],
    });
  },
  async leave(query, { id, fence }, { pauseSec, isFailure }) {
    await query({
      text: `update system.data_jobs set lease_until = ${leaseEnd('$3')}, failures = failures + $4 where ${isHeld}`,
      values: [id, fence, pauseSec, isFailure ? 1 : 0],
    });
  },
};
