import { type Database, newId } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import type { RequestContext } from '@recordbus/request/context';
import { type Collection, tableOf } from '@recordbus/schema';
import { addDataJob, findUnfinishedExport } from '../data-jobs/data-job-store.ts';
import type { OwnDataJob } from './own-data.ts';

/** Adds a job that exports the account's own data, or returns the account's unfinished one. Throws 401 for an account that is gone. */
export function startOwnData(
  { transaction }: Pick<Database, 'transaction'>,
  collection: Collection,
  accountId: string,
  { requestId, traceparent }: RequestContext,
): Promise<OwnDataJob> {
  return transaction(async (query) => {
    // Two requests at once get one job.
    const found = await query({
      text: `select from ${tableOf(collection)} where id = $1 for no key update`,
      values: [accountId],
    });
    if (found.length === 0) throw unauthenticated();
    const unfinished = await findUnfinishedExport(query, collection.id, accountId);
    const job =
      unfinished ??
      (await addDataJob(query, {
        id: newId(),
        kind: 'export',
        cause: 'request',
        collection_id: collection.id,
        collection_name: collection.name,
        record_id: accountId,
        actor: { type: 'user', id: accountId },
        request: { requestId, traceparent, clientAddress: '' },
        options: {},
      }));
    return job as OwnDataJob;
  });
}
