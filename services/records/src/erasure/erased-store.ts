import type { Query } from '@recordbus/database';

/** A record to erase, or an erased one. */
export interface ErasedRecord {
  readonly collectionId: string;
  readonly recordId: string;
}

/** Lists records that a job is to erase. */
export async function listForErasure(query: Query, jobId: string, records: readonly ErasedRecord[]): Promise<void> {
  await query({
    text: `insert into system.erased_records (job_id, collection_id, record_id)
      select $1, u.c, u.r from unnest($2::text[], $3::text[]) u(c, r) on conflict do nothing`,
    values: [jobId, records.map(({ collectionId }) => collectionId), records.map(({ recordId }) => recordId)],
  });
}

/** Finds the next record that the job has not deleted yet. */
export async function findNextToErase(query: Query, jobId: string): Promise<ErasedRecord | undefined> {
  const [row] = await query<ErasedRecord>({
    text: `select collection_id as "collectionId", record_id as "recordId" from system.erased_records
      where job_id = $1 and erased_at is null order by collection_id, record_id limit 1`,
    values: [jobId],
  });
  return row;
}

/** Takes a record that could not be deleted from the list. */
export async function unlist(query: Query, jobId: string, { collectionId, recordId }: ErasedRecord): Promise<void> {
  await query({
    text: 'delete from system.erased_records where job_id = $1 and collection_id = $2 and record_id = $3',
    values: [jobId, collectionId, recordId],
  });
}

/** One collection's next erased records. */
export interface ErasedBatch {
  readonly jobId: string;
  readonly collectionId: string;
  readonly ids: readonly string[];
  /** The position after the batch. */
  readonly position: string;
}

/** Reads the next records after a position, at most `limit`, all in one collection; undefined after the last one. */
export async function readErased(
  query: Query,
  jobId: string,
  position: string,
  limit: number,
): Promise<ErasedBatch | undefined> {
  const [collection = '', record = ''] = position.split('/');
  const rows = await query<{ collection_id: string; record_id: string }>({
    text: `select collection_id, record_id from system.erased_records
      where job_id = $1 and (collection_id, record_id) > ($2, $3) and erased_at is not null
      order by collection_id, record_id limit $4`,
    values: [jobId, collection, record, limit],
  });
  const [first] = rows;
  if (!first) return undefined;
  const ids = rows.filter(({ collection_id }) => collection_id === first.collection_id).map((row) => row.record_id);
  return { jobId, collectionId: first.collection_id, ids, position: `${first.collection_id}/${ids.at(-1)}` };
}
