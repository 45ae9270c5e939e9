import type { Query } from '@recordbus/database';
import { type FileKey, fileKey } from '@recordbus/storage';

/** Where the store has archives of people's own data. No collection id begins with an underscore. */
const archivesOf = '_own_data';

/** How long an archive is kept, in days. */
export const archiveDays = 7;

/** How long one attempt may write, in hours: an archive that a dead process left goes then. */
const writingHours = 24;

/** How long a writer may take to notice that its job is gone, in seconds: longer than a job's lease. */
const noticedSec = 20;

/** An archive's key. Each attempt writes its own. */
export function archiveKey(jobId: string, name: string): FileKey {
  const key = fileKey(archivesOf, jobId, name);
  if (!key) throw new Error("an archive's id is not a key segment");
  return key;
}

/** Lists an archive for removal before it is written, so that none stays unknown. */
export async function announceArchive(query: Query, jobId: string, name: string): Promise<void> {
  await query({
    text: `insert into system.file_removals (collection_id, record_id, name, due_at)
      values ($1, $2, $3, now() + make_interval(hours => $4))`,
    values: [archivesOf, jobId, name, writingHours],
  });
}

/** Forgets an announced archive whose bytes its writer has deleted. */
export async function forgetArchive(query: Query, jobId: string, name: string): Promise<void> {
  await query({
    text: 'delete from system.file_removals where collection_id = $1 and record_id = $2 and name = $3',
    values: [archivesOf, jobId, name],
  });
}

/**
 * Lists a running job's archives for removal, and keeps the later removal that was announced: a process that does not know
 * yet that its job has ended may write until then, and die before it can delete.
 */
async function removeSoonAndLater(
  query: Query,
  jobs: readonly string[],
  { but, soonSec }: { readonly but: string | undefined; readonly soonSec: number },
): Promise<void> {
  await query({
    text: `insert into system.file_removals (collection_id, record_id, name, due_at)
      select distinct collection_id, record_id, name, now() + make_interval(secs => $4) from system.file_removals
      where collection_id = $1 and record_id = any($2::text[]) and name is distinct from $3`,
    values: [archivesOf, jobs, but ?? null, soonSec],
  });
}

/** Keeps a written archive for its days, and removes archives from the account's other jobs and from earlier attempts. */
export async function keepArchive(
  query: Query,
  job: { readonly id: string; readonly collection_id: string; readonly record_id: string | null },
  name: string,
): Promise<void> {
  await query({
    text: `update system.file_removals set due_at = case when record_id = $2::text and name = $3 then now() + make_interval(days => $6)
          else now() end
      where collection_id = $1 and record_id in (
        select id::text from system.data_jobs where kind = 'export' and collection_id = $4 and record_id = $5
          and state <> 'queued' and id <= $2::text::uuid
      ) and (record_id <> $2::text or name = $3)`,
    values: [archivesOf, job.id, name, job.collection_id, job.record_id, archiveDays],
  });
  await removeSoonAndLater(query, [job.id], { but: name, soonSec: 0 });
}

/**
 * Deletes the export jobs of accounts, and ends their archives. One that is being written goes when its writer has noticed, or
 * when a writer's lease would be over. Returns the jobs' ids.
 */
export async function deleteExports(
  query: Query,
  collectionId: string,
  accounts: readonly string[],
): Promise<readonly string[]> {
  const rows = await query<{ id: string; state: string }>({
    text: `with gone as (
        delete from system.data_jobs where kind = 'export' and collection_id = $1 and record_id = any($2::text[])
        returning id, state
      ), ended as (
        update system.file_removals f set due_at = now() from gone
        where f.collection_id = $3 and f.record_id = gone.id::text and gone.state <> 'running'
      )
      select id, state from gone`,
    values: [collectionId, accounts, archivesOf],
  });
  const running = rows.filter(({ state }) => state === 'running').map(({ id }) => id);
  if (running.length > 0) await removeSoonAndLater(query, running, { but: undefined, soonSec: noticedSec });
  return rows.map(({ id }) => id);
}

/**
 * Returns whether archives of the accounts that a job erases are still to be removed, except those that only a dead writer's
 * late removal names. Another erasure of the same account may have ended them.
 */
export async function areArchivesLeft(query: Query, erasureId: string): Promise<boolean> {
  const [row] = await query<{ are_left: boolean }>({
    text: `select exists (
        select from system.data_jobs j
        cross join lateral jsonb_array_elements_text(coalesce(j.progress -> 'archives', '[]')) as ended (id)
        join system.file_removals f on f.collection_id = $2 and f.record_id = ended.id
        where j.kind = 'erase' and j.state = 'running' and f.due_at <= now() + interval '1 minute'
          and (j.id = $1 or exists (
            select from system.erased_records x join system.erased_records o using (collection_id, record_id)
            where x.job_id = $1 and o.job_id = j.id
          ))
      ) as are_left`,
    values: [erasureId, archivesOf],
  });
  return row?.are_left === true;
}
