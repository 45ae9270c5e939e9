import { applyDroppedIndex, applyNewIndex } from '../indexes/change-indexes.ts';
import { definitionsOfIndexes } from '../indexes/present-indexes.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** Creates a draft's indexes, and replaces those that differ. */
export async function applyIndexes(schema: SchemaChange, draft: SnapshotCollection): Promise<void> {
  let collection = schema.collections.find(({ name }) => name === draft.name);
  if (!collection) throw new Error(`the collection ${draft.name} is missing`);
  for (const wanted of draft.indexes) {
    const existing = definitionsOfIndexes(collection).find(
      ({ name }) => name.toLowerCase() === wanted.name.toLowerCase(),
    );
    if (existing && JSON.stringify(existing) === JSON.stringify(definitionOf(wanted))) continue;
    if (existing) collection = await applyDroppedIndex(schema, collection, existing.name);
    collection = await applyNewIndex(schema, collection, wanted);
  }
}

const definitionOf = ({ name, columns, unique, type }: SnapshotCollection['indexes'][number]) => ({
  name,
  columns,
  unique,
  type,
});
