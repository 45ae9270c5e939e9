import { newId, type Query } from '@recordbus/database';

interface NewJob {
  readonly extension: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  readonly key: string | undefined;
  readonly priority: number;
  /** Seconds from now; undefined for a time. */
  readonly inSec: number | undefined;
  /** Unix seconds. */
  readonly atSec: number | undefined;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  /** The mail that the job takes to the extension. */
  readonly mailId?: string | undefined;
}

interface Enqueued {
  readonly id: string;
  /** Whether no job with the key was waiting. */
  readonly isNew: boolean;
}

/**
 * Adds a job, or brings the one forward that waits with its key. That one is locked until the transaction ends, so it
 * cannot begin before the caller's writes are committed, and other enqueuers of the key wait.
 */
export async function enqueueJob(query: Query, job: NewJob): Promise<Enqueued> {
  const id = newId();
  const [row] = await query<{ id: string }>({
    name: 'extension-jobs.enqueue',
    text: `insert into system.extension_jobs as q (id, extension, name, input, key, priority, due_at, is_due, request_id, traceparent,
        mail_id)
      select $1, $2, $3, $4, $5, $6, t.due_at, t.due_at <= clock_timestamp(), $9, $10, $11
      from (select coalesce(to_timestamp($8::float8), clock_timestamp() + make_interval(secs => coalesce($7::float8, 0))) as due_at) t
      on conflict (extension, key, name) where state = 'pending' and key is not null do update
        set priority = greatest(q.priority, excluded.priority),
          due_at = case when q.failures = 0 then least(q.due_at, excluded.due_at) else q.due_at end,
          is_due = q.is_due or q.failures = 0 and excluded.is_due
      returning q.id`,
    values: [
      id,
      job.extension,
      job.name,
      job.input,
      job.key ?? null,
      job.priority,
      job.inSec ?? null,
      job.atSec ?? null,
      job.requestId,
      job.traceparent,
      job.mailId ?? null,
    ],
  });
  if (!row) throw new Error('the insert of a job returned no row');
  return { id: row.id, isNew: row.id === id };
}

interface CancelRequest {
  readonly extension: string;
  /** Undefined for all of the extension's jobs. */
  readonly name: string | undefined;
  readonly key: string;
}

/** Cancels the jobs with a key that wait or run. Returns how many. A running one's worker ends at its next renewal. */
export async function cancelByKey(query: Query, { extension, name, key }: CancelRequest): Promise<number> {
  const rows = await query({
    text: `update system.extension_jobs
      set state = 'cancelled', finished_at = clock_timestamp(), lease_until = null, lease_token = null
      where extension = $1 and key = $2 and ($3::text is null or name = $3) and state in ('pending', 'running')
      returning 1`,
    values: [extension, key, name ?? null],
  });
  return rows.length;
}
