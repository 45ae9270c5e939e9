import { hasAccounts } from '@recordbus/accounts';
import { AppError, forbidden, preconditionFailed } from '@recordbus/errors';
import type { UnusedKey } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { hasPendingRemoval, removalPending } from '../files/pending-removal.ts';
import type { Upload } from '../files/upload-parts.ts';
import { etagOf } from '../record/etag.ts';
import { refuseOthersId } from '../record/others-account-ids.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { type Call, passesRules } from '../rules/rule-context.ts';
import { createRecordAt } from './create-record.ts';
import { lockRecord } from './lock-record.ts';
import { applyToNothing } from './operators.ts';
import { modeOfUpdate } from './prepare-update.ts';
import { findByKey } from './record-key.ts';
import { recordTaken } from './record-taken.ts';
import { exists, type RecordPlace, updateRecord } from './update-record.ts';
import { failureError } from './write-failure.ts';
import { modeOf } from './write-hooks.ts';
import { type WriteMode, widestMode } from './write-mode.ts';
import type { WriteRules } from './write-rules.ts';
import type { WriteUnit } from './write-unit.ts';
import type { WrittenRecord } from './written-record.ts';

/** A record to create, or to change if it exists. */
export type PutRequest = RecordPlace & {
  readonly body: Readonly<Record<string, unknown>>;
  /** The request's upload. The body has its files' names. */
  readonly upload?: Upload | undefined;
  /** The versions that may be changed; undefined for any. */
  readonly versions: readonly string[] | undefined;
  /** Whether only an existing record may be changed, or only a new one created; undefined for either. */
  readonly only?: 'change' | 'create' | undefined;
  /** The idempotency key for which the write's statement keeps the answer, if it does. */
  readonly keptFor?: UnusedKey | undefined;
};

interface PutRules extends WriteRules {
  readonly collections: Pick<ServedCollections, 'requireAction' | 'otherAuthCollections'>;
}

type Put = WrittenRecord & { readonly isNew: boolean };

/** A PUT's mode. */
export const modeOfPut = (collection: Collection, call: Call, { hooks }: WriteRules): WriteMode =>
  widestMode(
    modeOfUpdate(hooks, collection, call),
    modeOf(hooks, collection, 'create'),
    hasAccounts(collection) ? 'transaction' : 'statement',
  );

/**
 * Changes the record at a place like `updateRecord`, or creates it like `createRecord` if it does not exist. The unit
 * has the mode that `modeOfPut` returns. Throws both functions' refusals, and 412 for a record that `only` rules out.
 */
export async function putRecord(
  unit: WriteUnit,
  collection: Collection,
  request: PutRequest,
  call: Call,
  rules: PutRules,
): Promise<Put> {
  if (request.only !== 'create') {
    const changed = await changeExisting(unit, collection, request, call, rules);
    if (changed) return { ...changed, isNew: false };
    if (request.only === 'change') throw noRecord();
  }
  const created = await createMissing(unit, collection, request, call, rules);
  if (created) return { ...created, isNew: true };
  if (request.only === 'create') await refuseExisting(unit, collection, request, call);
  throw recordTaken;
}

/** Returns undefined if there is no record at the place. */
async function changeExisting(
  unit: WriteUnit,
  collection: Collection,
  { id, key, body, upload, versions, keptFor }: PutRequest,
  call: Call,
  rules: PutRules,
): Promise<WrittenRecord | undefined> {
  // A closed rule refuses before the body is read, as for a PATCH.
  if (collection.rules.update === '' && !passesRules(call, collection, 'write')) {
    if (await exists(unit.query, collection, id === undefined ? { key } : { id }))
      throw failureError({ outcome: 'refused' }, call);
    return undefined;
  }
  const isOneStatement = modeOfPut(collection, call, rules) === 'statement';
  let place: RecordPlace = id === undefined ? { key } : { id };
  if (place.key && !isOneStatement) {
    const found = await findByKey(unit.query, collection, place.key, ' for update');
    if (found === undefined) return undefined;
    place = { id: found };
  }
  const result = await updateRecord(unit, collection, { ...place, body, upload, versions, keptFor }, call, rules);
  if (result.outcome === 'missing') return undefined;
  if (result.outcome !== 'written') throw failureError(result, call);
  return result;
}

/** Returns undefined if there is a record at the place. */
async function createMissing(
  unit: WriteUnit,
  collection: Collection,
  { id, key, body: sent, upload, keptFor }: PutRequest,
  call: Call,
  rules: PutRules,
): Promise<WrittenRecord | undefined> {
  rules.collections.requireAction(collection, 'create', call.principal);
  if (id !== undefined && hasAccounts(collection)) {
    if (!passesRules(call, collection, 'write')) throw forbidden("only admins choose an account's id");
    await refuseOthersId(unit.query, collection, rules.collections.otherAuthCollections(collection), id);
  }
  if (id !== undefined && (await hasPendingRemoval(unit.query, collection, id))) throw removalPending();
  const body = await applyToNothing(collection, sent);
  const seen = body === sent ? call : { ...call, request: { ...call.request, body } };
  const record = { id, place: key ? key.fields : ('id' as const), body, upload, keptFor };
  return createRecordAt(unit, collection, record, seen, rules);
}

/** Throws 412 for an existing record, with its version only for callers who may change it. Returns if it is gone. */
async function refuseExisting(unit: WriteUnit, collection: Collection, { id, key }: PutRequest, call: Call) {
  const found = id ?? (key && (await findByKey(unit.query, collection, key)));
  if (found === undefined) return;
  const locked = await lockRecord(unit.query, collection, 'update', { id: found, versions: [] }, call);
  if (locked.outcome === 'mismatch') throw preconditionFailed(etagOf(locked.version), 'the record exists already');
  if (locked.outcome !== 'locked' && locked.outcome !== 'missing') throw failureError(locked, call);
}

/** 412 for a missing record. */
const noRecord = () => new AppError(412, 'precondition_failed', 'there is no such record');
