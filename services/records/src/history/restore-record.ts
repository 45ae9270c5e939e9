import type { Query } from '@recordbus/database';
import { originValues, snapshotFields } from '@recordbus/journal';
import { type Collection, compileRecordReader, type Field } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { conflict, notFound } from '@recordbus/shared/errors';
import { composeLock } from '../delete/delete-sql.ts';
import { isRecordId } from '../record/record-id.ts';
import { perCollection } from '../sql/prepared.ts';
import { explainRefusal } from '../write/refused-write.ts';
import type { Unwritten, WrittenRecord } from '../write/written-record.ts';
import { composeFindKnown, composeFindSnapshot, composeRestore } from './restore-sql.ts';

/** Which version of a record is to be the present one again. */
export interface Restoring {
  readonly id: string;
  /** The most recent snapshot at or before this time, in unix seconds. */
  readonly atSec: number;
  /** The versions (`updated_at` in unix seconds) that may be overwritten; any when undefined. */
  readonly versions: readonly number[] | undefined;
}

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

/**
 * Restores a record to its most recent snapshot at or before a time, as an update: `updated` advances, with an event
 * and a row of history; the query is of a transaction. Fields that the snapshot does not know, or that are gone since, are left as they are.
 * Throws 404 before the first snapshot, 409 for a deleted record, and 422 naming every field whose value can't be
 * written any more: a taken unique value, a lost relation target, one that its field refuses by now.
 */
export async function restoreRecord(
  query: Query,
  collection: Collection,
  { id, atSec, versions }: Restoring,
  context: RequestContext,
): Promise<({ readonly outcome: 'written' } & WrittenRecord) | Unwritten> {
  if (!isRecordId(id)) return { outcome: 'missing' };
  const { reader, lock, findKnown, findSnapshot, restore } = compiled(collection);
  // Locked before the snapshot is looked for, so that no write comes between unseen.
  const [live] = await query<{ updatedAtSec: number }>({ text: lock, values: [id] });
  if (!live) return await refuseGone(query, findKnown, id);
  const [snapshot] = await query<Snapshot>({ text: findSnapshot, values: [id, atSec] });
  if (!snapshot) throw notFound('snapshot');
  if (versions && !versions.includes(live.updatedAtSec)) return { outcome: 'mismatch', ...live };
  const fields = findRestored(collection, snapshot);
  reader.readChange(readableValues(fields, snapshot));
  const names = fields.map(({ name }) => name);
  const [row] = await query<WrittenRecord>({
    text: restore,
    values: [...originValues(context), id, snapshot.at, names],
  }).catch(explainRefusal(collection));
  if (!row) throw new Error('the statement of a restore gave no row');
  return { outcome: 'written', ...row };
}

/** A record that history knows was deleted; bringing one back is not served (interface §9). */
async function refuseGone(query: Query, findKnown: string, id: string): Promise<Unwritten> {
  const known = await query({ text: findKnown, values: [id] });
  if (known.length > 0) throw conflict('record_deleted', 'a deleted record can not be restored');
  return { outcome: 'missing' };
}

const findRestored = (collection: Collection, { fieldIds }: Snapshot): Field[] => {
  const known = new Set(fieldIds);
  return snapshotFields(collection).filter(({ id }) => known.has(id));
};

/** What the fields' definitions are asked about; a sealed value was asked about when it was written. */
const readableValues = (fields: readonly Field[], { record }: Snapshot): Record<string, unknown> =>
  Object.fromEntries(
    fields.filter(({ options }) => options.encrypted !== true).map(({ name }) => [name, record[name]]),
  );
