import type { Collection } from '@recordbus/schema';
import { planDrop } from '../ddl/create-table.ts';
import { deleteCollectionRow } from './collections-table.ts';
import { collectionInUse } from './errors.ts';
import { getCollection } from './find-collection.ts';
import type { SchemaChanges } from './schema-changes.ts';

/**
 * Drops a collection, its table and all its records, for good. Throws 404, and 409 naming the relations of other
 * collections that lead to it.
 */
export function deleteCollection(changes: SchemaChanges, idOrName: string): Promise<void> {
  return changes.make(async ({ query, collections, execute }) => {
    const collection = getCollection(collections, idOrName);
    const blockers = findRelationsTo(collection, collections);
    if (blockers.length > 0) throw collectionInUse(collection, blockers);
    await execute(planDrop(collection));
    await deleteCollectionRow(query, collection.id);
  });
}

const findRelationsTo = (target: Collection, collections: readonly Collection[]) =>
  collections
    .filter(({ id }) => id !== target.id)
    .flatMap(({ name, fields }) =>
      fields
        .filter((field) => field.collection === target.name)
        .map((field) => ({ collection: name, field: field.name })),
    );
