import type { Query } from '@recordbus/database';
import { inSlices } from '@recordbus/limits/time-slice';
import { type Collection, indexName, isSearchIndex, quoteIdentifier, tableOf } from '@recordbus/schema';
import { applyEncryptionChanges } from '../collections/encryption-changes.ts';
import { planChange } from '../ddl/change-table.ts';
import { planDropRelation } from '../ddl/columns.ts';
import { planDropTable, planTable, planTableParts } from '../ddl/create-table.ts';
import { executeIndex } from '../indexes/change-indexes.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import type { CollectionChanges, KeptCollection } from './target-collections.ts';

/** A table's temporary name while another takes its name. No collection has such a name. */
const asideName = ({ id }: Collection): string => `aside:${id}`;

/**
 * Changes the tables by a plan, in an order that always works: names first, so that collections may swap them; then new
 * tables, which may refer to each other; then changed ones; then those that are dropped.
 */
export async function changeTables(schema: SchemaChange, changes: CollectionChanges): Promise<void> {
  const isTable = ({ type }: Collection) => type !== 'view';
  const created = changes.created.filter(isTable);
  const dropped = changes.dropped.filter(isTable);
  const kept = changes.kept.filter(({ before, after }) => before !== after && isTable(before));
  const { execute, query } = schema;
  const renamed = kept.filter(({ before, after }) => before.name !== after.name);
  await execute([
    ...dropped.flatMap((collection) =>
      collection.fields
        .filter(({ collection: target }) => target !== undefined)
        .flatMap((field) => planDropRelation(collection, field)),
    ),
    ...[...renamed.map(({ before }) => before), ...dropped].map((collection) =>
      renameTable(collection, asideName(collection)),
    ),
    ...renamed.map(({ before, after }) => renameTable({ name: asideName(before) }, after.name)),
  ]);
  for (const collection of created) await execute(planTable(collection));
  for await (const pair of inSlices(kept)) await execute([...planDroppedIndexes(pair), ...planKept(pair)]);
  for await (const collection of inSlices(created)) await execute(planTableParts(collection));
  for await (const collection of inSlices(dropped))
    await execute(planDropTable({ ...collection, name: asideName(collection) }));
  for await (const { before, after } of inSlices(kept))
    await applyEncryptionChanges(schema, { ...before, name: after.name }, after);
  await makeIndexes(query, execute, [...created.map((after) => ({ after })), ...kept]);
}

const renameTable = (collection: Pick<Collection, 'name'>, to: string): string =>
  `alter table ${tableOf(collection)} rename to ${quoteIdentifier(to)}`;

/** Plans the change to a table that already has its new name. */
const planKept = ({ before, after }: KeptCollection): string[] => planChange({ ...before, name: after.name }, after);

/**
 * Plans which indexes to drop: those that the files lack, including those over dropped columns. `planChange` drops search
 * indexes, which have a table.
 */
const planDroppedIndexes = ({ before, after }: KeptCollection): string[] => {
  const left = new Set((after.indexes ?? []).map(({ id }) => id));
  return (before.indexes ?? [])
    .filter((index) => !left.has(index.id) && !isSearchIndex(index))
    .map((index) => `drop index records.${quoteIdentifier(indexName(before, index))}`);
};

async function makeIndexes(
  query: Query,
  execute: SchemaChange['execute'],
  pairs: readonly { readonly before?: Collection; readonly after: Collection }[],
): Promise<void> {
  for (const { before, after } of pairs) {
    const known = new Set((before?.indexes ?? []).map(({ id }) => id));
    for (const index of after.indexes ?? [])
      if (!known.has(index.id)) await executeIndex({ query, execute }, after, index);
  }
}
