import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { type ExtensionJob, type ExtensionJobState, shownColumns } from './extension-job.ts';

interface JobsPage {
  readonly page: number;
  readonly perPage: number;
  readonly state?: ExtensionJobState | undefined;
  readonly extension?: string | undefined;
  /** A full name. */
  readonly name?: string | undefined;
  readonly key?: string | undefined;
}

/** Reads a page of jobs, newest first, and how many there are. */
export async function listExtensionJobs(
  query: Query,
  { page, perPage, ...filter }: JobsPage,
): Promise<{ rows: ExtensionJob[]; totalItems: number }> {
  const [extension, name] = filter.name?.split(/\.(.*)/s) ?? [];
  const conditions = [
    { column: 'state', value: filter.state },
    { column: 'extension', value: filter.extension },
    { column: 'extension', value: extension },
    { column: 'name', value: filter.name === undefined ? undefined : (name ?? '') },
    { column: 'key', value: filter.key },
  ].filter(({ value }) => value !== undefined);
  const where = ['true', ...conditions.map(({ column }, index) => `q.${column} = $${index + 1}`)].join(' and ');
  const values = conditions.map(({ value }) => value);
  const rows = await query<ExtensionJob>({
    text: `select ${shownColumns} from system.extension_jobs q where ${where}
      order by q.id desc limit $${values.length + 1} offset $${values.length + 2}`,
    values: [...values, perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)],
  });
  const [count] = await query<{ total: number }>({
    text: `select count(*) as total from system.extension_jobs q where ${where}`,
    values,
  });
  return { rows, totalItems: count?.total ?? 0 };
}

/** Finds a job, with its input as JSON text. */
export async function findExtensionJob(
  query: Query,
  id: string,
): Promise<(ExtensionJob & { readonly input: unknown }) | undefined> {
  const [row] = await query<ExtensionJob & { input: string }>({
    text: `select ${shownColumns}, q.input::text as input from system.extension_jobs q where q.id = $1`,
    values: [id],
  });
  return row && { ...row, input: JSON.parse(row.input) };
}

/** Makes a job that waits, is dead or was cancelled run now, as if new. Undefined if it runs or is done. */
export async function runExtensionJob(query: Query, id: string): Promise<ExtensionJob | undefined> {
  try {
    const [row] = await query<ExtensionJob>({
      text: `update system.extension_jobs q set state = 'pending', due_at = clock_timestamp(), is_due = true, finished_at = null,
          started_at = null, failures = 0, losses = 0, progress = null, progress_message = null
        where q.id = $1 and q.state in ('pending', 'dead', 'cancelled') returning ${shownColumns}`,
      values: [id],
    });
    return row;
  } catch (error) {
    if (!isDatabaseError(error, sqlState.uniqueViolation)) throw error;
    throw conflict('job_key', 'another job with its key waits already');
  }
}

/** Cancels a job that waits or runs; a running one's worker ends at its next renewal. Undefined if it has ended. */
export async function cancelExtensionJob(query: Query, id: string): Promise<ExtensionJob | undefined> {
  const [row] = await query<ExtensionJob>({
    text: `update system.extension_jobs q
      set state = 'cancelled', finished_at = clock_timestamp(), lease_until = null, lease_token = null
      where q.id = $1 and q.state in ('pending', 'running') returning ${shownColumns}`,
    values: [id],
  });
  return row;
}
