import { recordAudit } from '@recordbus/audit';
import { isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { conflict, notFound, validationFailed } from '@recordbus/errors';
import { findCaseCollation } from '@recordbus/query';
import {
  type Collection,
  type CollectionIndex,
  columnsOfIndex,
  indexName,
  isSearchIndex,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import type { Actor } from '../audit/actor.ts';
import { planDropSearchTable, planSearchTable } from '../ddl/search-tables.ts';
import { updateCollection } from '../schema/collections-table.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChange, SchemaChanges } from '../schema/schema-changes.ts';
import type { IndexChange, NewIndex, ShownIndex } from './index-draft.ts';
import { isSameIndex } from './is-same-index.ts';
import { planIndex, type TrigramSupport } from './plan-index.ts';
import { definitionOfIndex, presentIndex, systemIndexes } from './present-indexes.ts';
import { readIndex } from './read-index.ts';

/**
 * Creates an index. Throws 404 for the collection; 409 when the name is taken or a unique index covers duplicate values;
 * 422 that names what is wrong.
 */
export function createIndex(
  changes: SchemaChanges,
  idOrName: string,
  draft: NewIndex,
  actor: Actor,
): Promise<ShownIndex> {
  return changes.make(async (schema) => {
    const collection = getCollection(schema.collections, idOrName);
    const made = await applyNewIndex(schema, collection, draft);
    await auditIndex(schema.query, actor, 'indexes.create', collection, draft.name);
    return lastIndex(made);
  });
}

/**
 * Changes a search index, which is then built again (search §1.7). Throws 404; 422 for another index, and for what is
 * wrong. Does nothing if nothing changes.
 */
export function changeIndex(
  changes: SchemaChanges,
  idOrName: string,
  name: string,
  change: IndexChange,
  actor: Actor,
): Promise<ShownIndex> {
  return changes.make(async (schema) => {
    const collection = getCollection(schema.collections, idOrName);
    const before = findIndex(collection, name);
    if (!isSearchIndex(before)) throw validationFailed({ type: 'only a search index can be changed' });
    const draft = { ...definitionOfIndex(collection, before), columns: undefined, ...change };
    if (isSameIndex(before, readIndex(withoutIndex(collection, before), draft))) {
      schema.leaveUnchanged();
      return presentIndex(collection, before);
    }
    const made = await applyNewIndex(schema, await applyDroppedIndex(schema, collection, name), draft);
    await auditIndex(schema.query, actor, 'indexes.update', collection, before.name);
    return lastIndex(made);
  });
}

function lastIndex(collection: Collection): ShownIndex {
  const made = collection.indexes?.at(-1);
  if (!made) throw new Error('the created index is missing');
  return presentIndex(collection, made);
}

/** Drops an index. Throws 404, and 409 for a system index (collections §10.5). */
export function deleteIndex(changes: SchemaChanges, idOrName: string, name: string, actor: Actor): Promise<void> {
  return changes.make(async (schema) => {
    const collection = getCollection(schema.collections, idOrName);
    if (systemIndexes(collection).some((index) => index.name === name))
      throw conflict('index_needed', `the system needs the index ${name}`);
    await applyDroppedIndex(schema, collection, name);
    await auditIndex(schema.query, actor, 'indexes.delete', collection, name);
  });
}

/** Creates an index within a schema change. Returns the collection with it. */
export async function applyNewIndex(
  { query, execute }: SchemaChange,
  collection: Collection,
  draft: NewIndex,
): Promise<Collection> {
  const read = readIndex(collection, draft);
  await executeIndex({ query, execute }, collection, read);
  const index = isSearchIndex(read) && (await isEmpty(query, collection)) ? builtIndex(read) : read;
  const after = { ...collection, indexes: [...(collection.indexes ?? []), index] };
  await updateCollection(query, after);
  return after;
}

/** Whether there is nothing to build. Its table's triggers keep writers out until the change is committed. */
async function isEmpty(query: Query, collection: Collection): Promise<boolean> {
  const rows = await query({ text: `select from ${tableOf(collection)} limit 1`, values: [] });
  return rows.length === 0;
}

/** Returns a search index that holds every record. */
export const builtIndex = ({ isBuilding: _, ...index }: CollectionIndex): CollectionIndex => index;

/** Creates an index in the database. Throws 409 when a unique one covers duplicate values. */
export async function executeIndex(
  { query, execute }: Pick<SchemaChange, 'query' | 'execute'>,
  collection: Collection,
  index: CollectionIndex,
): Promise<void> {
  if (isSearchIndex(index)) return execute([briefLockTimeout, ...planSearchTable(collection, index)]);
  const trigrams = index.type === 'trigram' ? await prepareTrigrams(query) : undefined;
  await execute([planIndex(collection, index, trigrams)]).catch(explainRefusal(columnsOfIndex(collection, index)));
}

/** Drops an index within a schema change. Returns the collection without it. Throws 404. */
export async function applyDroppedIndex(
  { query, execute }: SchemaChange,
  collection: Collection,
  name: string,
): Promise<Collection> {
  const index = findIndex(collection, name);
  await execute(
    isSearchIndex(index)
      ? [briefLockTimeout, ...planDropSearchTable(collection, index)]
      : [`drop index records.${quoteIdentifier(indexName(collection, index))}`],
  );
  const after = withoutIndex(collection, index);
  await updateCollection(query, after);
  return after;
}

/** Writes wait behind a statement that waits for the table, so it waits for less than a second (search §1.6). */
const briefLockTimeout = "set local lock_timeout = '400ms'";

function findIndex({ indexes }: Collection, name: string): CollectionIndex {
  const index = indexes?.find((other) => other.name === name);
  if (!index) throw notFound('index');
  return index;
}

/** Returns the collection without an index. */
export const withoutIndex = (collection: Collection, index: CollectionIndex): Collection => ({
  ...collection,
  indexes: collection.indexes?.filter((other) => other !== index) ?? [],
});

const explainRefusal =
  (columns: readonly string[]) =>
  (error: unknown): never => {
    if (isDatabaseError(error, sqlState.uniqueViolation))
      throw conflict('duplicate_values', `records have the same values in ${columns.join(', ')}`);
    if (isDatabaseError(error, sqlState.programLimitExceeded))
      throw validationFailed({ columns: 'have values that are too large for an index' });
    throw error;
  };

async function prepareTrigrams(query: Query): Promise<TrigramSupport> {
  try {
    await query({ text: 'create extension if not exists pg_trgm', values: [] });
  } catch (error) {
    if (!isDatabaseError(error)) throw error;
    throw validationFailed({ type: `needs the extension pg_trgm, which cannot be created: ${error.message}` });
  }
  const [extension] = await query<{ schema: string }>({
    text: `select nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
      where extname = 'pg_trgm'`,
    values: [],
  });
  if (!extension) throw new Error('the extension pg_trgm is missing after its creation');
  return { schema: extension.schema, collation: await findCaseCollation(query) };
}

const auditIndex = (query: Query, actor: Actor, action: string, { id, name }: Collection, index: string) =>
  recordAudit(query, { ...actor, action, target: { type: 'collection', id }, details: { collection: name, index } });
