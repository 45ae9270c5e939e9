import type { Query } from '@recordbus/database';
import { type FileKey, fileKey } from '@recordbus/storage';

/** Where the store has archives of people's own data. No collection id begins with an underscore. */
const archivesOf = '_own_data';

/** How long an archive is kept, in days. */
export const archiveDays = 7;

/** How long one attempt may write, in hours: an archive that a dead process left goes then. */
const writingHours = 24;

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

/**
 * Lists a running job's archives for removal now, and keeps the later removal that was announced: a process that does not know
 * yet that its job has ended may write until then, and die before it can delete.
 */
async function removeNowAndLater(
  query: Query,
  jobs: readonly string[],
  { but }: { readonly but: string | undefined },
): Promise<void> {
  await query({
    text: `insert into system.file_removals (collection_id, record_id, name)
      select distinct collection_id, record_id, name from system.file_removals
      where collection_id = $1 and record_id = any($2::text[]) and name is distinct from $3`,
    values: [archivesOf, jobs, but ?? null],
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
  await removeNowAndLater(query, [job.id], { but: name });
}

/** Deletes the export jobs of accounts, and ends their archives. Returns how many there were. */
export async function deleteExports(query: Query, collectionId: string, accounts: readonly string[]): Promise<number> {
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
  if (running.length > 0) await removeNowAndLater(query, running, { but: undefined });
  return rows.length;
}
