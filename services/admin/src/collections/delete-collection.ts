import { recordAudit } from '@recordbus/audit';
import { type Collection, createProblems, tableOf } from '@recordbus/schema';
import type { Actor } from '../audit/actor.ts';
import { planDrop } from '../ddl/create-table.ts';
import { requireVersion } from '../schema/collection-etag.ts';
import { deleteCollectionRow } from '../schema/collections-table.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';
import { followInSettings } from '../settings/follow-collections.ts';
import { loadViewReadings, readersOf } from '../views/view-readings.ts';
import type { ChangeTarget } from './change-collection.ts';
import { collectionInUse } from './errors.ts';
import { refuseLostNames } from './lost-names.ts';

/**
 * Drops a collection, its table or view and all its records. Throws 404; 412 for another version; 409 that names other
 * collections' relations and views that depend on it. Throws 422 that names other collections' rules that name it.
 */
export function deleteCollection(
  changes: SchemaChanges,
  { idOrName, versions }: ChangeTarget,
  actor: Actor,
): Promise<void> {
  return changes.make(async ({ query, collections, execute }) => {
    const collection = getCollection(collections, idOrName);
    requireVersion(collection, versions);
    const { id, name } = collection;
    const views = readersOf(name, await loadViewReadings(query));
    const blockers = [...findRelationsTo(collection, collections), ...views.map((view) => ({ collection: view }))];
    if (blockers.length > 0) throw collectionInUse(collection, blockers);
    await refuseNamed(collection, collections);
    await execute(collection.type === 'view' ? [`drop view ${tableOf(collection)}`] : planDrop(collection));
    await deleteCollectionRow(query, id);
    await followInSettings(query, collection, undefined);
    await recordAudit(query, {
      ...actor,
      action: 'collections.delete',
      target: { type: 'collection', id },
      details: { name },
    });
  });
}

/** Throws 422 that names other collections' rules that name the collection (collections §7.2). */
async function refuseNamed(dropped: Collection, collections: readonly Collection[]): Promise<void> {
  const problems = createProblems();
  const after = collections.filter((other) => other !== dropped);
  await refuseLostNames({ before: collections, after, renamed: new Map(), changed: dropped }, problems);
  problems.throwIfAny();
}

const findRelationsTo = (target: Collection, collections: readonly Collection[]) =>
  collections
    .filter(({ id, type }) => id !== target.id && type !== 'view')
    .flatMap(({ name, fields }) =>
      fields
        .filter((field) => field.collection === target.name)
        .map((field) => ({ collection: name, field: field.name })),
    );
