import type { Collection } from '@recordbus/schema';
import { applyDroppedIndex, applyNewIndex, withoutIndex } from '../indexes/change-indexes.ts';
import { isSameIndex } from '../indexes/is-same-index.ts';
import { readIndex } from '../indexes/read-index.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** Creates a draft's indexes, and replaces those that differ. Returns the collection with them. */
export async function applyIndexes(schema: SchemaChange, draft: SnapshotCollection): Promise<Collection> {
  let collection = schema.collections.find(({ name }) => name === draft.name);
  if (!collection) throw new Error(`the collection ${draft.name} is missing`);
  for (const wanted of draft.indexes) {
    const existing = collection.indexes?.find(({ name }) => name.toLowerCase() === wanted.name.toLowerCase());
    if (existing && isSameIndex(existing, readIndex(withoutIndex(collection, existing), wanted))) continue;
    if (existing) collection = await applyDroppedIndex(schema, collection, existing.name);
    collection = await applyNewIndex(schema, collection, wanted);
  }
  return collection;
}
