import { newId } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { addDataJob, setProgress } from '../data-jobs/data-job-store.ts';
import type { EraseOwnAccount } from '../delete/own-account.ts';
import { listErased, outboxPosition } from './delete-for-good.ts';
import type { ErasureOptions } from './erasure.ts';
import { noteDeleted } from './progress.ts';

const options: ErasureOptions = { history: 'purge', files: true, dry_run: false };

/** Creates the function that makes a user's delete of their own account an erasure (privacy §2.8). */
export const createEraseOwnAccount =
  (collections: () => readonly Collection[]): EraseOwnAccount =>
  async (unit, { collection, id }, { requestId, traceparent }, remove) => {
    const { query } = unit;
    const after = await outboxPosition(query);
    const result = await remove();
    if (result.outcome !== 'deleted') return result;
    const job = await addDataJob(query, {
      id: newId(),
      kind: 'erase',
      cause: 'account',
      collection_id: collection.id,
      collection_name: collection.name,
      record_id: id,
      actor: { type: 'user', id },
      request: { requestId, traceparent, clientAddress: '' },
      options,
    });
    const listed = { jobId: job.id, collectionId: collection.id, recordIds: [id], after };
    const deleted = await listErased(query, listed, { collections: collections(), isSystem: false });
    await setProgress(query, job.id, noteDeleted({}, deleted));
    unit.due.add('startErasures');
    return result;
  };
