import { auditUser } from '@recordbus/accounts';
import { type Database, newId } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import type { RequestContext } from '@recordbus/request/context';
import { type Collection, tableOf } from '@recordbus/schema';
import { addDataJob, findUnfinishedExport } from '../data-jobs/data-job-store.ts';
import type { OwnDataJob } from './own-data.ts';

/**
 * Adds a job that exports the account's own data, or returns the account's unfinished one. Throws 401 for an account
 * that is gone.
 */
export function startOwnData(
  { transaction }: Pick<Database, 'transaction'>,
  collection: Collection,
  accountId: string,
  { context, userAgent }: { readonly context: RequestContext; readonly userAgent: string | undefined },
): Promise<OwnDataJob> {
  return transaction(async (query) => {
    // Two requests at once get one job.
    const found = await query({
      text: `select from ${tableOf(collection)} where id = $1 for no key update`,
      values: [accountId],
    });
    if (found.length === 0) throw unauthenticated();
    const unfinished = await findUnfinishedExport(query, collection.id, accountId);
    if (unfinished) return unfinished as OwnDataJob;
    const { requestId, traceparent } = context;
    const job = await addDataJob(query, {
      id: newId(),
      kind: 'export',
      cause: 'request',
      collection_id: collection.id,
      collection_name: collection.name,
      record_id: accountId,
      actor: { type: 'user', id: accountId },
      request: { requestId, traceparent, clientAddress: '' },
      options: {},
    });
    await auditUser(query, 'users.export', collection, accountId, { context, userAgent }, { job: job.id });
    return job as OwnDataJob;
  });
}
