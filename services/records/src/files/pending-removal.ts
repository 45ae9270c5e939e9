import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import { fileFieldsOf } from './file-changes.ts';
import type { Removals } from './removals.ts';

/**
 * Whether a deleted record's files with this id are still being removed. The removal would also remove a new record's
 * files.
 */
export async function hasPendingRemoval(query: Query, collection: Collection, id: string): Promise<boolean> {
  if (fileFieldsOf(collection).length === 0) return false;
  const rows = await query({
    text: 'select from system.file_removals where collection_id = $1 and record_id = $2 and name is null',
    values: [collection.id, id],
  });
  return rows.length > 0;
}

const waitMs = 3000;
const intervalMs = 50;

/** Waits until a deleted record's files with this id are removed. Throws 409 after three seconds. */
export async function awaitRemoval(
  query: Query,
  removals: Pick<Removals, 'wake'>,
  collection: Collection,
  id: string,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  while (await hasPendingRemoval(query, collection, id)) {
    if (performance.now() > deadlineMs) throw removalPending();
    removals.wake();
    await delay(intervalMs);
  }
}

/** 409: a deleted record's files with the same id are being removed. */
export const removalPending = () =>
  conflict('files_being_removed', "a deleted record's files with this id are being removed; send it again");
