import { AppError } from '@recordbus/errors';
import { originOf } from '@recordbus/journal';
import type { Collection } from '@recordbus/schema';
import { noteStep } from '../data-jobs/data-job-store.ts';
import { modeOfDelete } from '../delete/delete-mode.ts';
import { deleteRecord, deleteUnreferred } from '../delete/delete-record.ts';
import { callOfErasure } from '../erasure/call-of-erasure.ts';
import { type Deleted, listErased, outboxPosition } from '../erasure/delete-for-good.ts';
import type { ErasureJob, ErasureProgress } from '../erasure/erasure.ts';
import type { ErasureDeps } from '../erasure/erasure-deps.ts';
import { noteDeleted, noteRefused } from '../erasure/progress.ts';
import type { Call } from '../rules/rule-context.ts';
import { addChangeWork } from '../write/after-commit.ts';
import { widestMode } from '../write/write-mode.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import { type DueRecords, findDue, lockDue } from './due-records.ts';
import { redaction } from './emptied-fields.ts';
import { addRetentionJob } from './start-retention.ts';

/** How many records one transaction erases: where the delete is one statement, where it has cascades, and where it has hooks. */
const batchSizes = { statement: 500, transaction: 20, hooked: 1 } as const;

/** How many records and accounts one job erases. Logs are searched for every account's address. */
const maxRecords = 50_000;
const maxAccounts = 500;

/**
 * Erases a collection's due records, in id order, each batch in a transaction with the position. After many records
 * another job continues. A record that cannot be deleted stays until the next run. Undefined if the process ends.
 */
export async function eraseDue(
  deps: ErasureDeps,
  given: ErasureJob,
  ending: AbortSignal,
): Promise<ErasureJob | undefined> {
  await deps.reload();
  let job = given;
  let limit: number | undefined;
  for (;;) {
    if (ending.aborted) return undefined;
    const collection = deps.collections().find(({ id }) => id === job.collection_id);
    if (!collection?.retain) return job;
    const mode = collection.retain.action === 'redact' ? 'statement' : modeOfDelete(collection, deps.rules);
    const due = await findDue(deps.database.query, collection, job.position, limit ?? batchSizes[mode]);
    try {
      job = await eraseBatch(deps, job, { collection, ...due });
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      const [id] = due.ids;
      // One by one, so that only the record that is refused stays.
      if (due.ids.length > 1) limit = 1;
      else if (id !== undefined) {
        job = await leaveOut(deps, job, id, error);
        limit = undefined;
      }
      continue;
    }
    if (due.ids.length > 0) deps.bus.notify('erasures');
    if (due.isEnd || job.progress.isHandedOn) return job;
  }
}

interface Batch extends DueRecords {
  readonly collection: Collection;
}

function eraseBatch(
  deps: ErasureDeps,
  job: ErasureJob,
  { collection, ids, position, isEnd }: Batch,
): Promise<ErasureJob> {
  const note = async (unit: WriteUnit, reached: ErasureProgress) => {
    const { counts, emails = [] } = reached;
    const isHandedOn = !isEnd && ((counts?.records ?? 0) >= maxRecords || emails.length >= maxAccounts);
    if (isHandedOn) await addRetentionJob(unit.query, collection, position);
    const progress = { ...reached, ...(isHandedOn && { isHandedOn }) };
    await noteStep(unit.query, job, { step: 'delete', position, progress });
    return { ...job, position, progress };
  };
  if (ids.length === 0) return deps.write({ mode: 'transaction' }, (unit) => note(unit, job.progress));
  const isRedaction = collection.retain?.action === 'redact';
  const mode = isRedaction ? 'transaction' : widestMode('transaction', modeOfDelete(collection, deps.rules));
  const call = callOfErasure(job, deps);
  return deps.write({ mode }, async (unit) => {
    const due = await lockDue(unit.query, collection, ids);
    if (due.length === 0) return note(unit, job.progress);
    const after = await outboxPosition(unit.query);
    await (isRedaction ? redact(unit, collection, due, call) : deleteEach(deps, unit, collection, due, call));
    const listed = { jobId: job.id, collectionId: collection.id, recordIds: due, after };
    const deleted: Deleted = await listErased(unit.query, listed, {
      collections: deps.collections(),
      isSystem: true,
      isRedaction,
    });
    return note(unit, noteDeleted(job.progress, deleted));
  });
}

async function deleteEach(
  { rules }: Pick<ErasureDeps, 'rules'>,
  unit: WriteUnit,
  collection: Collection,
  ids: readonly string[],
  call: Call,
): Promise<void> {
  if (modeOfDelete(collection, rules) === 'statement') return deleteUnreferred(unit, collection, ids, call);
  for (const id of ids) await deleteRecord(unit, collection, { id, versions: undefined }, call, rules);
}

async function redact(unit: WriteUnit, collection: Collection, ids: readonly string[], call: Call): Promise<void> {
  const { text, valuesFrom } = redaction(collection);
  await unit.query({ text, values: valuesFrom({ ...originOf(call), ids }) });
  addChangeWork(unit, collection);
}

async function leaveOut(deps: ErasureDeps, job: ErasureJob, id: string, error: AppError): Promise<ErasureJob> {
  const progress = noteRefused(job.progress, id, error);
  await noteStep(deps.database.query, job, { step: 'delete', position: id, progress });
  return { ...job, position: id, progress };
}
