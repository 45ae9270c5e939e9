import type { Query } from '@recordbus/database';
import { originValues, snapshotFields } from '@recordbus/journal';
import {
  type Collection,
  compileRecordReader,
  explainRefusal,
  type FieldSealing,
  isEncrypted,
  type RecordReader,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { conflict, notFound } from '@recordbus/shared/errors';
import { fileNamesIn } from '../files/file-changes.ts';
import { openAnswer } from '../read/open-answer.ts';
import { isRecordId } from '../record/record-id.ts';
import { perCollection } from '../sql/prepared.ts';
import { composeLock } from '../write/lock-record.ts';
import type { WriteHooks } from '../write/write-hooks.ts';
import type { Unwritten, WrittenRecord } from '../write/written-record.ts';
import { prepareRestore, type Restored, type RestorePlan } from './prepare-restore.ts';
import { changeValues, composeFindKnown, composeFindSnapshot, composeRestore } from './restore-sql.ts';

/** Which version of a record is to be the present one again. */
export interface Restoring {
  readonly id: string;
  /** The most recent snapshot at or before this time, in unix seconds. */
  readonly atSec: number;
  /** The versions (`updated_at` in unix seconds) that may be overwritten; any when undefined. */
  readonly versions: readonly number[] | undefined;
}

/** Says which of a record's files have no bytes any more. */
export type FindLostFiles = (
  query: Query,
  collection: Collection,
  recordId: string,
  names: readonly string[],
) => Promise<ReadonlySet<string>>;

interface Snapshot {
  readonly at: number;
  readonly record: Readonly<Record<string, unknown>>;
  readonly fieldIds: readonly string[];
}

const compiled = perCollection((collection) => ({
  reader: compileRecordReader(collection),
  lock: composeLock(collection),
  findKnown: composeFindKnown(collection),
  findSnapshot: composeFindSnapshot(collection),
  restore: composeRestore(collection),
}));

/** Only where hooks change what is restored. */
const compiledChanged = perCollection((collection) => composeRestore(collection, { isChanged: true }));

interface RestoreRules {
  readonly findLostFiles: FindLostFiles;
  readonly sealing: FieldSealing;
  readonly hooks: WriteHooks;
}

/**
 * Restores a record to its most recent snapshot at or before a time, as an update: `updated` advances, with an event
 * and a row of history; the query is of a transaction. Fields that the snapshot does not know, and single files whose
 * bytes are gone, are left as they are; lists of files come back without those. Hooks may change what is restored. Throws
 * 404 before the first snapshot, 409 for a deleted record, and 422 naming every field whose value can't be written any
 * more: a taken unique value, a lost relation target, one that its field refuses by now.
 */
export async function restoreRecord(
  query: Query,
  collection: Collection,
  { id, atSec, versions }: Restoring,
  context: RequestContext,
  { findLostFiles, sealing, hooks }: RestoreRules,
): Promise<({ readonly outcome: 'written' } & WrittenRecord) | Unwritten> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { reader, lock, findKnown, findSnapshot, restore } = compiled(collection);
  // Locked before the snapshot is looked for, so that no write comes between unseen.
  const [live] = await query<{ updatedAtSec: number }>({ text: lock, values: [id] });
  if (!live) return await refuseGone(query, findKnown, id);
  const [snapshot] = await query<Snapshot>({ text: findSnapshot, values: [id, atSec] });
  if (!snapshot) throw notFound('snapshot');
  if (versions && !versions.includes(live.updatedAtSec)) return { outcome: 'mismatch', ...live };
  const lost = await findLostFiles(query, collection, id, fileNamesIn(collection, snapshot.record));
  const offered = findRestored(collection, snapshot, lost);
  const before = hooks.find(collection, 'update');
  const { names, changed } = before
    ? await prepareRestore(query, { collection, id, offered, reader }, context, { before, sealing })
    : checkRestored(reader, offered);
  const plain = [...originValues(context), id, snapshot.at, names, [...lost]];
  const [row] = await query<WrittenRecord>(
    changed.size === 0
      ? { text: restore, values: plain }
      : { text: compiledChanged(collection), values: [...plain, ...changeValues(collection, changed)] },
  ).catch(explainRefusal(collection));
  // It was locked, so only a hook can have deleted it.
  if (!row) return { outcome: 'missing' };
  const body = openAnswer(sealing, { collection, expansions: undefined }, row.body);
  return { outcome: 'written', ...row, body };
}

/** A record that history knows was deleted; bringing one back is not served (interface §9). */
async function refuseGone(query: Query, findKnown: string, id: string): Promise<Unwritten> {
  const known = await query({ text: findKnown, values: [id] });
  if (known.length > 0) throw conflict('record_deleted', 'a deleted record can not be restored');
  return { outcome: 'missing' };
}

/** Throws 422 for what its field refuses by now. A sealed value was checked when it was written. */
function checkRestored(reader: RecordReader, offered: readonly Restored[]): RestorePlan {
  reader.readChange(
    Object.fromEntries(offered.flatMap(({ field, value }) => (isEncrypted(field) ? [] : [[field.name, value]]))),
  );
  return { names: offered.map(({ field }) => field.name), changed: new Map() };
}

/** The fields to set, and what to: those that the snapshot knows, but for files that are lost. */
function findRestored(collection: Collection, { fieldIds, record }: Snapshot, lost: ReadonlySet<string>): Restored[] {
  const known = new Set(fieldIds);
  return snapshotFields(collection)
    .filter(({ id }) => known.has(id))
    .map((field) => ({
      field,
      value: field.type === 'file' ? withoutLost(record[field.name], lost) : record[field.name],
    }))
    .filter(({ value }) => value !== undefined);
}

const withoutLost = (value: unknown, lost: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return value.filter((name) => !lost.has(name));
  return typeof value === 'string' && lost.has(value) ? undefined : value;
};
