import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { putEvent } from '@recordbus/journal';
import { leaseEnd } from '@recordbus/queue';
import { type HeldJob, isHeld, leaseSec } from './job-table.ts';

/** What an attempt reported last. */
export interface Progress {
  readonly percent: number;
  readonly message: string | undefined;
}

/** Renews a job's lease and stores its progress. Returns whether this replica still holds it. */
export async function renewJob(query: Query, job: HeldJob, progress: Progress | undefined): Promise<boolean> {
  const rows = await query({
    name: 'extension-jobs.renew',
    text: `update system.extension_jobs set lease_until = ${leaseEnd(leaseSec)},
        progress = coalesce($3, progress), progress_message = case when $3 is null then progress_message else $4 end
      where ${isHeld} returning 1`,
    values: [job.id, job.lease_token, progress?.percent ?? null, progress?.message ?? null],
  });
  return rows.length > 0;
}

/** Ends a job that is done. */
export async function finishJob(query: Query, job: HeldJob): Promise<void> {
  await query({
    name: 'extension-jobs.finish',
    text: `update system.extension_jobs set state = 'done', error = null, finished_at = clock_timestamp(),
        lease_until = null, lease_token = null where ${isHeld}`,
    values: [job.id, job.lease_token],
  });
}

interface Return {
  readonly waitSec: number;
  /** The failed attempt's; undefined if the attempt counts for nothing. */
  readonly error: string | undefined;
}

/**
 * Returns a job to those that wait. If another one with its key waits already, that one does the work, and this one is
 * cancelled.
 */
export async function returnJob(query: Query, job: HeldJob, { waitSec, error }: Return): Promise<void> {
  const attempt = () =>
    query({
      text: `update system.extension_jobs q set
          state = case when t.is_replaced then 'cancelled' else 'pending' end,
          finished_at = case when t.is_replaced then clock_timestamp() end,
          is_due = false, due_at = clock_timestamp() + make_interval(secs => $3),
          failures = failures + ($4::text is not null)::int, error = coalesce($4, error),
          lease_until = null, lease_token = null
        from (
          select exists (
            select from system.extension_jobs o join system.extension_jobs own on own.id = $1
            where o.extension = own.extension and o.name = own.name and o.key = own.key and o.state = 'pending'
          ) as is_replaced
        ) t
        where ${isHeld}`,
      values: [job.id, job.lease_token, waitSec, error ?? null],
    });
  try {
    await attempt();
  } catch (error) {
    // A job with the key was enqueued meanwhile; now it is visible.
    if (!isDatabaseError(error, sqlState.uniqueViolation)) throw error;
    await attempt();
  }
}

/** Ends a job for good, with the event `system.job.dead`, in the transaction of `query`. */
export async function buryJob(
  query: Query,
  job: HeldJob,
  { error, isFailure }: { readonly error: string; readonly isFailure: boolean },
): Promise<void> {
  const [dead] = await query<{ id: string }>({
    text: `update system.extension_jobs set state = 'dead', error = $3, failures = failures + $4,
        finished_at = clock_timestamp(), lease_until = null, lease_token = null
      where ${isHeld}
      returning id, extension || '.' || name as name, extension, key, failures + losses as attempts, error,
        floor(extract(epoch from created_at))::bigint as created, request_id`,
    values: [job.id, job.lease_token, error, isFailure ? 1 : 0],
  });
  if (!dead) return;
  await putEvent(query, {
    event: 'system.job.dead',
    data: JSON.stringify({ record: dead }),
    recordKey: `system.job/${dead.id}`,
  });
}
