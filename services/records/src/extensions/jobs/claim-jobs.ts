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

interface Claim {
  readonly items: readonly ClaimedJob[];
  /** In how many milliseconds the next job's time comes, any extension's, if that is known. */
  readonly nextMs?: number | undefined;
}

/** For jobs without a concurrency. */
const anyNumber = 2 ** 31 - 1;
/** How many jobs whose time has come one claim moves to the due ones. */
const maxMoved = 1000;
/** How many jobs a claim ranks (SQL). */
const ranked = '4 * $4::integer';

/** SQL: whether no claim has seen that a job's time has come. */
const isLater = "state = 'pending' and not is_due";

/**
 * Leases up to `limit` of an extension's due jobs. Higher priorities go first; names take turns, then the earliest goes
 * first. A job waits while another one with its key runs. Claims of jobs with a concurrency follow each other, so it holds
 * over all replicas.
 */
export async function claimJobs(
  { query, transaction }: Pick<Database, 'query' | 'transaction'>,
  { extension, jobs, limit }: ClaimRequest,
): Promise<Claim> {
  const found = await peek(query, extension, jobs);
  const isLaterDue = found.later_ms !== null && found.later_ms <= 0;
  // A row that an enqueuer has locked is not moved: it waits for the next poll.
  const nextMs = isLaterDue ? ((await moveDue(query)) > 0 ? 0 : undefined) : (found.later_ms ?? undefined);
  const due = isLaterDue ? jobs : jobs.filter(({ name }) => found.names.includes(name));
  if (due.length === 0) return { items: [], nextMs };
  const claimDue = (on: Query) =>
    on<ClaimedJob>({
      name: 'extension-jobs.claim',
      text: claim,
      values: [extension, due.map(({ name }) => name), due.map(({ concurrency }) => concurrency ?? anyNumber), limit],
    });
  if (due.every(({ concurrency }) => concurrency === null)) return { items: await claimDue(query), nextMs };
  const items = await transaction(async (within) => {
    await takeLock(within, locks.extensionJobs, extension);
    return claimDue(within);
  });
  return { items, nextMs };
}

interface Peek {
  /** The names that have due jobs. */
  readonly names: readonly string[];
  /** In how many milliseconds the first job's time comes that no claim has moved to the due ones; null without one. */
  readonly later_ms: number | null;
}

/**
 * Finds what a claim could take: it spares idle replicas the claim. Each part reads the first entry of an index; EXISTS alone
 * would read the table from its beginning, where the ended jobs are.
 */
async function peek(query: Query, extension: string, jobs: ClaimRequest['jobs']): Promise<Peek> {
  const [found] = await query<Peek>({
    name: 'extension-jobs.peek',
    text: `select array(
        select d.name from unnest($2::text[]) d (name)
        where exists (
          select from (
            select from system.extension_jobs p
            where p.extension = $1 and p.name = d.name and p.state = 'pending' and p.is_due
            order by p.priority desc, p.due_at, p.id limit 1
          ) first
        ) or exists (
          select from system.extension_jobs l
          where l.extension = $1 and l.name = d.name and l.state = 'running' and ${isFree('l')}
        )
      ) as names,
      (
        select extract(epoch from due_at - statement_timestamp())::float8 * 1000
        from system.extension_jobs where ${isLater} order by due_at limit 1
      ) as later_ms`,
    values: [extension, jobs.map(({ name }) => name)],
  });
  return found ?? { names: [], later_ms: null };
}

/** Moves jobs whose time has come to the due ones. Returns how many. */
async function moveDue(query: Query): Promise<number> {
  const moved = await query({
    name: 'extension-jobs.move',
    text: `update system.extension_jobs set is_due = true where id = any(array(
        select id from system.extension_jobs where ${isLater} and due_at <= statement_timestamp()
        order by due_at limit ${maxMoved} for update skip locked
      )) returning 1`,
    values: [],
  });
  return moved.length;
}

/**
 * The rows are locked outside the ranking, since PostgreSQL locks none in a query with window functions. More are ranked than
 * are taken: other replicas may have locked the first ones.
 */
const claim = jobTable.claim({
  due: `with declared as (
      select d.name, count(r.id) as running, greatest(least(d.width - count(r.id), ${ranked}), 0) as room
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
      select id, row_number() over (order by priority desc, turn, due_at, id) as place from ranked
      order by place limit ${ranked}
    )
    select j.id as key from chosen join system.extension_jobs j on j.id = chosen.id
    where j.state = 'pending' and j.is_due or j.state = 'running' and ${isFree('j')}
    order by chosen.place limit $4 for update of j skip locked`,
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
