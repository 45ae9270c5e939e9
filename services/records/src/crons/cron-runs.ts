import { type Database, locks, type Query, takeLock } from '@recordbus/database';
import { isFree, leaseEnd } from '@recordbus/queue';
import { z } from 'zod';

/** A cron's run, as admins get it. */
export const cronRun = z
  .object({
    id: z.uuid(),
    cron: z.string(),
    /** Unix seconds; null for a run by hand. */
    tick: z.number().nullable(),
    cause: z.enum(['schedule', 'missed', 'manual']),
    status: z.enum(['running', 'success', 'failed', 'skipped']),
    error: z.string().nullable(),
    started_at: z.number(),
    finished_at: z.number().nullable(),
  })
  .meta({ id: 'CronRun' });

export type CronRun = z.output<typeof cronRun>;

/** How long a run counts as running after its last renewal, in seconds. */
const leaseSec = 30;
/** How often a running run is renewed, in milliseconds. */
export const renewMs = 10_000;
const interrupted = 'the process ended during the run';

/** SQL: whether a run ended with its process. */
const isInterrupted = `cron_runs.status = 'running' and ${isFree('cron_runs')}`;

const columns = `id, cron, extract(epoch from tick)::bigint as tick, cause,
  case when ${isInterrupted} then 'failed' else status end as status,
  case when ${isInterrupted} then '${interrupted}' else error end as error,
  extract(epoch from started_at)::bigint as started_at, extract(epoch from finished_at)::bigint as finished_at`;

interface RunRequest {
  readonly cron: string;
  /** Undefined for a run by hand. */
  readonly tick: Date | undefined;
  readonly cause: CronRun['cause'];
}

/**
 * Begins a run on exactly one replica; undefined on the others. While the cron's earlier run is in progress, a
 * scheduled run is recorded as `skipped`, and a manual one is undefined.
 */
export function beginRun({ transaction }: Pick<Database, 'transaction'>, { cron, tick, cause }: RunRequest) {
  return transaction(async (query): Promise<CronRun | undefined> => {
    await takeLock(query, locks.cron, cron);
    await query({
      text: `update system.cron_runs set status = 'failed', error = '${interrupted}', finished_at = lease_until
        where cron = $1 and ${isInterrupted}`,
      values: [cron],
    });
    if (tick) await query({ text: noteTick, values: [cron, tick] });
    const [row] = await query<CronRun>({
      text: `insert into system.cron_runs (cron, tick, cause, status, finished_at, lease_until)
        select $1, $2::timestamptz, $3, case when busy then 'skipped' else 'running' end,
          case when busy then now() end, ${leaseEnd(leaseSec)}
        from (select exists (select from system.cron_runs where cron = $1 and status = 'running') as busy) b
        where not (busy and $2::timestamptz is null)
        on conflict (cron, tick) do nothing returning ${columns}`,
      values: [cron, tick ?? null, cause],
    });
    return row;
  });
}

const noteTick = `insert into system.crons as c (name, last_tick) values ($1, $2)
  on conflict (name) do update set last_tick = greatest(c.last_tick, excluded.last_tick)`;

/** When a cron last ticked or, without a tick, first appeared, which is now for a new one. */
export async function findLastTick(query: Query, cron: string): Promise<Date> {
  await query({
    text: 'insert into system.crons (name, last_tick) values ($1, now()) on conflict do nothing',
    values: [cron],
  });
  const [row] = await query<{ last_tick: Date }>({
    text: 'select last_tick from system.crons where name = $1',
    values: [cron],
  });
  return row?.last_tick ?? new Date();
}

/** Renews the lease of a running run. */
export async function renewRun(query: Query, id: string): Promise<void> {
  await query({
    text: `update system.cron_runs set lease_until = ${leaseEnd(leaseSec)}
      where id = $1 and status = 'running'`,
    values: [id],
  });
}

/** Records how a run ended; `error` is null for success. */
export async function endRun(query: Query, id: string, error: string | null): Promise<void> {
  await query({
    text: `update system.cron_runs set status = case when $2::text is null then 'success' else 'failed' end, error = $2,
        finished_at = clock_timestamp()
      where id = $1 and status = 'running'`,
    values: [id, error],
  });
}

/** Reads a page of a cron's runs, newest first, and how many there are. */
export async function listRuns(
  query: Query,
  cron: string,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<{ rows: CronRun[]; totalItems: number }> {
  const rows = await query<CronRun>({
    text: `select ${columns} from system.cron_runs where cron = $1 order by started_at desc, id desc limit $2 offset $3`,
    values: [cron, perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)],
  });
  const [count] = await query<{ total: number }>({
    text: 'select count(*) as total from system.cron_runs where cron = $1',
    values: [cron],
  });
  return { rows, totalItems: count?.total ?? 0 };
}

/** Finds each cron's newest run, if it has one. */
export async function findLastRuns(query: Query, crons: readonly string[]): Promise<Map<string, CronRun>> {
  const rows = await query<CronRun>({
    text: `select distinct on (cron) ${columns} from system.cron_runs where cron = any($1)
      order by cron, started_at desc, id desc`,
    values: [crons],
  });
  return new Map(rows.map((row) => [row.cron, row]));
}

/** Removes runs older than 30 days. */
export const removeOldRuns = async (query: Query): Promise<void> => {
  await query({ text: `delete from system.cron_runs where started_at < now() - interval '30 days'`, values: [] });
};
