import { locks, type Query, takeLock } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { type Collection, perCollection } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import type { Call } from '../rules/rule-context.ts';
import { lockRow } from '../write/lock-record.ts';
import type { WriteFailure } from '../write/write-failure.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { WrittenRecord } from '../write/written-record.ts';
import { overwriteRecord } from './overwrite-record.ts';
import { recreateRecord } from './recreate-record.ts';
import { composeFindEnd } from './recreate-sql.ts';
import type { RestoreRules } from './restore-rules.ts';
import { findSnapshot, type VersionQuery } from './snapshot.ts';

/** A restore, as the client sent it. */
export interface RestoreRequest extends VersionQuery {
  /** Whether a deleted record is created again. */
  readonly deleted: boolean;
  /** The versions that may be overwritten, a delete's included; undefined for any. */
  readonly versions: readonly string[] | undefined;
}

type RestoredRecord = { readonly outcome: 'written' | 'created' } & WrittenRecord;

const findEndOf = perCollection(composeFindEnd);

/**
 * Restores a record's version: an update if the record exists, or the create of a deleted one. The record gets a new
 * version, with an event and a history row. The unit has to be a transaction. Hooks may change the restored values.
 * Throws 404 for an unknown version, 409 for a deleted record without `deleted`, and 422 naming every field whose value
 * can no longer be written (history §5.3).
 */
export async function restoreRecord(
  unit: WriteUnit,
  collection: Collection,
  { id, deleted, versions, upTo, isExact }: RestoreRequest,
  call: Call,
  rules: RestoreRules,
): Promise<RestoredRecord | WriteFailure> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { query } = unit;
  const versionQuery = { id, upTo, isExact };
  const isAdmitted = (version: string) => !versions || versions.includes(version);
  // The lock comes before the search for the version, so no write can come in between.
  const existing = await lockExisting(query, collection, id, deleted);
  if (existing) {
    const snapshot = await findSnapshot(query, collection, versionQuery);
    if (!isAdmitted(existing.version)) return { outcome: 'mismatch', ...existing };
    const written = await overwriteRecord(unit, collection, { id, snapshot }, call, rules);
    return written ? { outcome: 'written', ...written } : { outcome: 'missing' };
  }
  const [end] = await query<{ isDelete: boolean; version: string }>({ text: findEndOf(collection), values: [id] });
  if (!end) return { outcome: 'missing' };
  if (!deleted) throw conflict('record_deleted', 'the record was deleted; deleted=1 creates it again');
  const snapshot = await findSnapshot(query, collection, versionQuery);
  if (!isAdmitted(end.version)) return { outcome: 'mismatch', version: end.version };
  const deletedRecord = { id, snapshot, isRecorded: end.isDelete };
  return { outcome: 'created', ...(await recreateRecord(unit, collection, deletedRecord, call, rules)) };
}

/** Locks a record if it exists. When several requests create it again, the first one creates it; the others find it. */
async function lockExisting(query: Query, collection: Collection, id: string, deleted: boolean) {
  const existing = await lockRow(query, collection, id);
  if (existing || !deleted) return existing;
  await takeLock(query, locks.recordId, `${collection.id}/${id}`);
  return lockRow(query, collection, id);
}
