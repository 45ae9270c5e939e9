import { type Database, isDatabaseError, sqlState } from '@recordbus/database';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { type Collection, isSearchIndex, loadCollection, type SearchIndex, searchTableOf } from '@recordbus/schema';
import { updateCollection } from '../schema/collections-table.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';
import { addKnownWords } from './add-known-words.ts';
import { builtIndex } from './change-indexes.ts';
import { fillSearchTable } from './fill-search-table.ts';
import { sortNewWords } from './sort-new-words.ts';

/** How often a replica looks for search indexes to build, and how soon again while records are being written. */
const intervalMs = 30_000;
const soonMs = 500;

interface BuildDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly log: Logger;
}

/** Creates the task that builds new search indexes (search §1.6). Wake it after a schema change. */
export const createSearchBuilds = ({ database, changes, log }: BuildDeps): BackgroundTask =>
  every({
    name: 'build search indexes',
    log,
    intervalMs,
    async run(ending) {
      let isDone = true;
      for (const id of await findBuilding(database))
        isDone = (await build(id, { database, changes }, ending)) && isDone;
      return isDone ? undefined : soonMs;
    },
  });

/** The ids of the collections whose search index is being built. */
async function findBuilding({ query }: Pick<Database, 'query'>): Promise<string[]> {
  const rows = await query<{ id: string }>({
    text: `select id from system.collections where indexes @> '[{"isBuilding": true}]' order by id`,
    values: [],
  });
  return rows.map(({ id }) => id);
}

/** Builds a collection's search index. Returns whether it is built, or gone. */
async function build(id: string, { database, changes }: Omit<BuildDeps, 'log'>, ending: AbortSignal): Promise<boolean> {
  const collection = await loadCollection(database.query, id);
  const index = collection && findUnbuilt(collection);
  if (!index) return true;
  try {
    if (!(await fillSearchTable({ database, collection, index, ending }))) return ending.aborted;
    if (index.search.typos) await addKnownWords({ database, collection, index, ending });
    if (ending.aborted) return true;
    await sortNewWords(database, collection, index);
    // New statistics: without them the planner takes every word for a rare one.
    await database.query({ text: `analyze ${searchTableOf(collection, index)}`, values: [] });
  } catch (error) {
    // A schema change renamed the collection or dropped the index, and has woken this task.
    if (isDatabaseError(error, sqlState.undefinedTable, sqlState.undefinedColumn)) return true;
    throw error;
  }
  await markReady(changes, collection, index);
  return true;
}

const findUnbuilt = ({ indexes }: Collection): SearchIndex | undefined =>
  indexes?.filter(isSearchIndex).find(({ isBuilding }) => isBuilding);

/** Another replica may have marked it, or a schema change dropped it. */
const markReady = (changes: SchemaChanges, { id }: Collection, index: SearchIndex): Promise<void> =>
  changes.make(async ({ query, collections, leaveUnchanged }) => {
    const now = collections.find((collection) => collection.id === id);
    const isUnbuilt = now?.indexes?.some((one) => one.id === index.id && one.isBuilding);
    if (!now || !isUnbuilt) return leaveUnchanged();
    const indexes = now.indexes?.map((one) => (one.id === index.id ? builtIndex(one) : one));
    await updateCollection(query, { ...now, indexes: indexes ?? [] });
  });
