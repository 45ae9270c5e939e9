import type { Query } from '@recordbus/database';
import { AppError, conflict } from '@recordbus/errors';
import { eraseAnswers } from '@recordbus/idempotency';
import { areArchivesLeft } from '../data-jobs/archive-store.ts';
import { noteResult, noteStep } from '../data-jobs/data-job-store.ts';
import { modeOfDelete } from '../delete/delete-mode.ts';
import type { RunJob } from '../jobs/worker.ts';
import { widestMode } from '../write/write-mode.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import { callOfErasure } from './call-of-erasure.ts';
import { certify } from './certify.ts';
import { cleanPlace, places } from './clean-places.ts';
import { deleteForGood } from './delete-for-good.ts';
import { type ErasedBatch, type ErasedRecord, findNextToErase, readErased, unlist } from './erased-store.ts';
import type { ErasureJob, ErasureProgress } from './erasure.ts';
import type { ErasureDeps } from './erasure-deps.ts';
import { type FindOthersNames, findOthersNames, othersNamesOnce } from './others-names.ts';
import { type ErasedPart, tellingLength } from './place.ts';
import { noteCleaned, noteDeleted, noteRefused } from './progress.ts';

/** How many records' data one transaction cleans at most. */
const partSize = 2000;

/** How long an erasure waits for writers that began before its delete. */
const maxSettling = "interval '1 minute'";

/** How long readers of the stream may take to know that a record is erased. */
const untilReadersKnow = "interval '1 second'";

/**
 * Creates the function that runs erasures (privacy §2). Each step commits with its position, so another replica continues where
 * one died. First the records are deleted and listed as erased: readers skip them from now on. Then all places are cleaned.
 */
export const createRunErasure =
  (deps: ErasureDeps): RunJob<ErasureJob> =>
  async (given, ending) => {
    if (given.options.dry_run) {
      await noteResult(deps.database.query, given, await tryErasure(deps, given));
      return 'done';
    }
    const findOthers = othersNamesOnce((names) => findOthersNames(deps.database.query, deps.collections(), names));
    const steps: readonly (readonly [
      name: string,
      run: (job: ErasureJob) => Promise<ErasureJob | 'waiting' | undefined>,
    ])[] = [
      ['delete', (job) => deleteAll(deps, job, ending)],
      ['settle', (job) => settle(deps, job)],
      ...places.map(
        (place) => [place.name, (job: ErasureJob) => cleanAll({ ...deps, findOthers }, job, place, ending)] as const,
      ),
      ['files', (job) => awaitFiles(deps, job)],
    ];
    let job = given;
    const begun = Math.max(
      steps.findIndex(([name]) => name === job.step),
      0,
    );
    for (const [name, run] of steps.slice(begun)) {
      if (job.step !== name) job = { ...job, step: name, position: job.step === '' ? job.position : '' };
      const after = await run(job);
      if (after === 'waiting') return 'waiting';
      if (!after || ending.aborted) return 'interrupted';
      job = after;
    }
    await noteResult(deps.database.query, job, await certify(deps, job));
    const { refused } = job.progress;
    if (refused) throw conflict('delete_restricted', `${refused.count} records stay: ${refused.reasons.join('; ')}`);
    return 'done';
  };

/** Deletes what the job is for, and notes when that was over. */
async function deleteAll(deps: ErasureDeps, given: ErasureJob, ending: AbortSignal): Promise<ErasureJob | undefined> {
  await deps.reload();
  const job = await (given.cause === 'retain' ? deps.eraseDue : deleteListed)(deps, given, ending);
  if (!job) return undefined;
  const [row] = await deps.database.query<{ id: string }>({
    text: 'select pg_current_xact_id()::text as id',
    values: [],
  });
  const progress = { ...job.progress, ...(row && { marked: row.id }) };
  await noteStep(deps.database.query, job, { step: 'settle', position: '', progress });
  return { ...job, step: 'settle', progress };
}

/** Deletes the listed records, each with its cascades in a transaction. */
async function deleteListed(
  deps: ErasureDeps,
  given: ErasureJob,
  ending: AbortSignal,
): Promise<ErasureJob | undefined> {
  let job = given;
  for (;;) {
    if (ending.aborted) return undefined;
    const next = await findNextToErase(deps.database.query, job.id);
    if (!next) return job;
    const progress = await deleteOne(deps, job, next).catch((error: unknown) => leaveOut(deps, job, next, error));
    job = { ...job, progress };
    deps.bus.notify('erasures');
  }
}

const deleteOne = (deps: ErasureDeps, job: ErasureJob, next: ErasedRecord): Promise<ErasureProgress> =>
  deps.write({ mode: modeOf(deps, next) }, async (unit) => {
    const isSystem = job.actor.type === 'system';
    const target = { ...next, jobId: job.id };
    const deleted = await deleteForGood(unit, target, callOfErasure(job, deps), deps, { isSystem });
    const progress = noteDeleted(job.progress, deleted);
    await noteStep(unit.query, job, { step: 'delete', position: '', progress });
    return progress;
  });

/** A job for many records leaves out one that cannot be deleted, and says so at its end. Other jobs fail. */
async function leaveOut(
  { database }: ErasureDeps,
  job: ErasureJob,
  next: ErasedRecord,
  error: unknown,
): Promise<ErasureProgress> {
  if (job.record_id !== null || !(error instanceof AppError) || error.status >= 500) throw error;
  const progress = noteRefused(job.progress, next.recordId, error);
  await database.transaction(async (query) => {
    await unlist(query, job.id, next);
    await noteStep(query, job, { step: 'delete', position: '', progress });
  });
  return progress;
}

/** With hooks, the delete takes a place among the few transactions in which hooks run. */
const modeOf = ({ collections, rules }: ErasureDeps, { collectionId }: ErasedRecord) => {
  const collection = collections().find(({ id }) => id === collectionId);
  return collection ? widestMode('transaction', modeOfDelete(collection, rules)) : 'transaction';
};

/**
 * Waits for transactions that began before the delete: a fan-out that did not see it may still store an event. Also waits until
 * every reader of the stream knows.
 */
async function settle({ database }: ErasureDeps, job: ErasureJob): Promise<ErasureJob | 'waiting'> {
  const [row] = await database.query<{ is_over: boolean }>({
    text: `select coalesce(max(erased_at), '-infinity') < clock_timestamp() - ${untilReadersKnow} and (
          pg_snapshot_xmin(pg_current_snapshot()) >= $2::text::xid8
          or coalesce(max(erased_at), '-infinity') < clock_timestamp() - ${maxSettling}
        ) as is_over
      from system.erased_records where job_id = $1`,
    values: [job.id, job.progress.marked ?? '0'],
  });
  return row?.is_over ? job : 'waiting';
}

interface PartDeps extends ErasureDeps {
  readonly findOthers: FindOthersNames;
}

/** Cleans one place for all erased records, part by part. */
async function cleanAll(
  deps: PartDeps,
  given: ErasureJob,
  place: (typeof places)[number],
  ending: AbortSignal,
): Promise<ErasureJob | undefined> {
  let job = given;
  const { database } = deps;
  const note = async (query: Query, position: string, progress: ErasureProgress) => {
    await noteStep(query, job, { step: place.name, position, progress });
    job = { ...job, position, progress };
  };
  for (;;) {
    if (ending.aborted) return undefined;
    const next = await readErased(database.query, job.id, job.position, partSize);
    if (!next) return job;
    await cleanPlace(place, await partOf(deps, job, next), (work) =>
      database.transaction(async (query) => {
        await note(query, job.position, noteCleaned(job.progress, await work(query)));
      }),
    );
    await note(database.query, next.position, job.progress);
  }
}

async function partOf(
  { collections, hashOf, secret, findOthers, eraseMailsFrom }: PartDeps,
  { id, cause, options, progress }: ErasureJob,
  { collectionId, ids, position }: ErasedBatch,
): Promise<ErasedPart> {
  const known = collections();
  const { provedEmails = [] } = progress;
  // Anyone may register another person's address and delete the account. An admin knows whom an erasure is for.
  const emails = cause === 'account' || cause === 'retain' ? provedEmails : (progress.emails ?? []);
  const others = await findOthers(position, { collectionId, ids, emails });
  const ownIds = ids.filter((one) => !others.ids.has(one));
  const isOwn = (email: string) => !others.emails.has(email);
  return {
    jobId: id,
    collectionId,
    collection: known.find((one) => one.id === collectionId),
    ids,
    ownIds,
    tellingIds: ownIds.filter(({ length }) => length >= tellingLength),
    history: options.history,
    emails: emails.filter(isOwn),
    hashOf,
    eraseAnswers: (erasing, named) => eraseAnswers(erasing, secret, named),
    eraseMails: (erasing) => eraseMailsFrom(erasing, provedEmails.filter(isOwn)),
  };
}

/** Waits until the bytes of files and of archives are gone. A running backup, which copies them, delays this. */
async function awaitFiles({ database, removals }: ErasureDeps, job: ErasureJob): Promise<ErasureJob | 'waiting'> {
  if (!job.options.files) return job;
  const [row] = await database.query<{ are_left: boolean }>({
    text: `select exists (
        select from system.file_removals f join system.erased_records x using (collection_id, record_id)
        where x.job_id = $1 and f.due_at <= x.erased_at + interval '1 day'
      ) as are_left`,
    values: [job.id],
  });
  if (!row?.are_left && !(await areArchivesLeft(database.query, job.id))) return job;
  await noteStep(database.query, job, { step: 'files', position: '', progress: job.progress });
  removals.wake();
  return 'waiting';
}

/** Thrown to roll back what a dry run did. */
const tried = new Error('the dry run is over');

/** Erases in a transaction without hooks, and rolls it back: what it counted is what an erasure would remove. */
async function tryErasure(deps: ErasureDeps, job: ErasureJob) {
  const rules = { ...deps.rules, hooks: { find: () => undefined } };
  let progress: ErasureProgress = {};
  const attempt = async (unit: WriteUnit) => {
    const target = { jobId: job.id, collectionId: job.collection_id, recordId: job.record_id ?? '' };
    const deleted = await deleteForGood(unit, target, callOfErasure(job, deps), { ...deps, rules });
    progress = noteDeleted({}, deleted);
    let position = '';
    for (;;) {
      const next = await readErased(unit.query, job.id, position, partSize);
      if (!next) break;
      const findOthers = othersNamesOnce((names) => findOthersNames(unit.query, deps.collections(), names));
      const part = await partOf({ ...deps, findOthers }, { ...job, progress }, next);
      for (const place of places)
        await cleanPlace(place, part, async (work) => {
          progress = noteCleaned(progress, await work(unit.query));
        });
      position = next.position;
    }
    throw tried;
  };
  await deps.reload();
  await deps.write({ mode: 'transaction' }, attempt).catch((error: unknown) => {
    if (error !== tried) throw error;
  });
  return certify(deps, { ...job, progress });
}
