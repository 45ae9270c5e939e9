import type { Database, Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';
import { type DueRange, endRanges, isHeldElsewhere, takeDueRange } from './range-statements.ts';
import { removeOfDropped, removeUnused } from './unused-files.ts';

/** The maximum number of files that one statement looks up. */
const filesAtOnce = 1000;

interface AbandonedDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly storage: Storage;
  readonly collections: () => readonly Collection[];
}

/**
 * Lists for removal the files that uploads of a dead process have left: those of a due range whose records do not exist.
 * Returns whether there was a due range. A range that cannot be cleaned is due again after a minute.
 */
export async function cleanAbandonedRange({ database, storage, collections }: AbandonedDeps): Promise<boolean> {
  const range = await database.transaction(takeDueRange);
  if (!range) return false;
  const collection = collections().find(({ id }) => id === range.collection_id);
  const isClean = collection
    ? await cleanRange(database.query, storage, collection, range)
    : await removeOfDropped(database.query, range.collection_id);
  if (isClean) await endRanges(database.query, [range.id]);
  return true;
}

async function cleanRange(query: Query, storage: Storage, collection: Collection, range: DueRange): Promise<boolean> {
  const files: { readonly recordId: string; readonly name: string }[] = [];
  for await (const { segments } of storage.list(collection.id, range.ids_start))
    files.push({ recordId: segments[1], name: segments[2] });
  // Asked after the listing: the file of a running upload was announced before it got its name.
  if (await isHeldElsewhere(query, range)) return false;
  for (let from = 0; from < files.length; from += filesAtOnce)
    await removeUnused(query, collection, files.slice(from, from + filesAtOnce));
  return true;
}
