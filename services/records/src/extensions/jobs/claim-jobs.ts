import { type Database, locks, type Query, takeLock } from '@recordbus/database';
import type { JobDescription } from '@recordbus/extension-host';
import { isFree } from '@recordbus/queue';
import { type HeldJob, jobTable, leaseSec } from './job-table.ts';

/** A job that this replica holds. */
export interface ClaimedJob extends HeldJob {
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  readonly key: string | null;
  readonly failures: number;
  readonly losses: number;
  readonly request_id: string | null;
  readonly traceparent: string | null;
}

interface ClaimRequest {
  readonly extension: string;
  readonly jobs: readonly Pick<JobDescription, 'name' | 'concurrency'>[];
  readonly limit: number;
}

/** For jobs without a concurrency. */
const anyNumber = 2 ** 31 - 1;
/** How many jobs whose time has come one claim moves to the due ones. */
const maxMoved = 1000;

const isLater = "state = 'pending' and not is_due and due_at <= clock_timestamp()";

/**
 * Leases up to `limit` of an extension's due jobs. Higher priorities go first; names take turns, then the earliest goes
 * first. A job waits while another one with its key runs. Claims for one extension follow each other, so the concurrency
 * holds over all replicas.
 */
export async function claimJobs(
  { query: peek, transaction }: Pick<Database, 'query' | 'transaction'>,
  { extension, jobs, limit }: ClaimRequest,
): Promise<ClaimedJob[]> {
  const names = jobs.map(({ name }) => name);
  const [found] = await peek<{ is_any: boolean }>({
    name: 'extension-jobs.peek',
    text: isAny,
    values: [extension, names],
  });
  if (!found?.is_any) return [];
  return transaction(async (query) => {
    await takeLock(query, locks.extensionJobs, extension);
    await moveDue(query);
    const widths = jobs.map(({ concurrency }) => concurrency ?? anyNumber);
    return query<ClaimedJob>({
      name: 'extension-jobs.claim',
      text: claim,
      values: [extension, names, widths, limit],
    });
  });
}

/** Whether a claim could find anything: it spares idle replicas the transaction. */
const isAny = `select
  exists (select from system.extension_jobs where extension = $1 and name = any($2) and state = 'pending' and is_due)
  or exists (select from system.extension_jobs where ${isLater})
  or exists (
    select from system.extension_jobs q
    where extension = $1 and name = any($2) and state = 'running' and ${isFree('q')}
  ) as is_any`;

const moveDue = (query: Query) =>
  query({
    name: 'extension-jobs.move',
    text: `update system.extension_jobs set is_due = true where id in (
        select id from system.extension_jobs where ${isLater} order by due_at limit ${maxMoved} for update skip locked
      )`,
    values: [],
  });

/** The rows are locked outside the ranking, since PostgreSQL locks none in a query with window functions. */
const claim = jobTable.claim({
  due: `with declared as (
      select d.name, count(r.id) as running, greatest(least(d.width - count(r.id), $4), 0) as room
      from unnest($2::text[], $3::int[]) d (name, width)
      left join system.extension_jobs r
        on r.extension = $1 and r.name = d.name and r.state = 'running' and not ${isFree('r')}
      group by d.name, d.width
    ), ranked as (
      select c.id, c.priority, c.due_at,
        d.running + row_number() over (partition by d.name order by c.priority desc, c.due_at, c.id) as turn
      from declared d cross join lateral (
        select * from (
          (select id, priority, due_at from system.extension_jobs l
            where l.extension = $1 and l.name = d.name and l.state = 'running' and ${isFree('l')}
            limit d.room)
          union all
          (select id, priority, due_at from system.extension_jobs p
            where p.extension = $1 and p.name = d.name and p.state = 'pending' and p.is_due
              and (p.key is null or not exists (
                select from system.extension_jobs o
                where o.extension = p.extension and o.name = p.name and o.state = 'running' and o.key = p.key
              ))
            order by p.priority desc, p.due_at, p.id limit d.room)
        ) both_kinds
        order by priority desc, due_at, id limit d.room
      ) c
    ), chosen as (
      select id from ranked order by priority desc, turn, due_at, id limit $4
    )
    select j.id as key from system.extension_jobs j
    where j.id in (select id from chosen) and (j.state = 'pending' or j.state = 'running' and ${isFree('j')})
    for update of j skip locked`,
  leaseSec,
  set: [
    "state = 'running'",
    "losses = q.losses + (q.state = 'running')::int",
    'started_at = coalesce(q.started_at, clock_timestamp())',
    'progress = null',
    'progress_message = null',
  ],
  returning: `q.id, q.lease_token, q.name, q.input::text as input, q.key, q.failures, q.losses, q.request_id, q.traceparent`,
});
