import { recordAudit } from '@recordbus/audit';
import { type Database, newId } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { DataJobActor } from '../data-jobs/data-job.ts';
import { addDataJob } from '../data-jobs/data-job-store.ts';
import { isRecordId } from '../record/record-id.ts';
import { listForErasure } from './erased-store.ts';
import type { ErasureJob, ErasureOptions } from './erasure.ts';
import { hasTraces } from './has-traces.ts';

/** What an erasure's start needs. */
export interface StartErasureDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  hashOf(recordId: string): string;
}

interface ErasureRequest {
  readonly collection: Collection;
  readonly id: string;
  readonly options: ErasureOptions;
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
}

/** Adds an erasure's job, also for a record that is deleted already. Throws 404 for a record that nothing knows. */
export async function startErasure(
  { database, hashOf }: StartErasureDeps,
  { collection, id, options, context, userAgent }: ErasureRequest,
): Promise<ErasureJob> {
  if (!isRecordId(id) || !(await hasTraces(database.query, collection, id))) throw notFound('record');
  return database.transaction(async (query) => {
    const job = await addDataJob(query, {
      id: newId(),
      kind: 'erase',
      cause: 'request',
      collection_id: collection.id,
      collection_name: collection.name,
      record_id: id,
      actor: actorOf(context),
      request: { requestId: context.requestId, traceparent: context.traceparent, clientAddress: '' },
      options,
    });
    await listForErasure(query, job.id, [{ collectionId: collection.id, recordId: id }]);
    await recordAudit(query, {
      action: 'records.erase',
      context,
      userAgent,
      target: { type: 'record', id: hashOf(id) },
      details: { job: job.id, collection: collection.name, ...options },
    });
    return job as ErasureJob;
  });
}

function actorOf({ principal }: RequestContext): DataJobActor {
  if (principal.type === 'guest') throw new Error('a guest erases nothing');
  return { type: principal.type, id: principal.id };
}
