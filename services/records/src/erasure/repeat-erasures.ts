import { takeErasures } from '@recordbus/backup/kept-erasures';
import { type Database, isDatabaseError, newId, sqlState } from '@recordbus/database';
import { addDataJob } from '../data-jobs/data-job-store.ts';
import { listForErasure } from './erased-store.ts';

/** After a restore: adds a job that repeats the erasures from before it, once for all replicas. Returns how many there are. */
export async function repeatErasures({ transaction }: Pick<Database, 'transaction'>): Promise<number> {
  try {
    return await transaction(async (query) => {
      const kept = await takeErasures(query);
      if (kept.length === 0) return 0;
      const job = await addDataJob(query, {
        id: newId(),
        kind: 'erase',
        cause: 'restore',
        collection_id: '',
        collection_name: '',
        record_id: null,
        actor: { type: 'system', id: null },
        request: { requestId: '', traceparent: '', clientAddress: '' },
        options: { history: 'purge', files: true, dry_run: false },
      });
      await listForErasure(
        query,
        job.id,
        kept.map(({ collection_id, record_id }) => ({ collectionId: collection_id, recordId: record_id })),
      );
      return kept.length;
    });
  } catch (error) {
    // Another replica has taken them.
    if (isDatabaseError(error, sqlState.undefinedTable)) return 0;
    throw error;
  }
}
