import { type Database, isDatabaseError, sqlState } from '@recordbus/database';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { findSearchIndex, loadCollection } from '@recordbus/schema';
import { addKnownWords } from './add-known-words.ts';
import { createPruning, type PruneKnownWords } from './prune-known-words.ts';
import { sortNewWords } from './sort-new-words.ts';

/** New words are known within five seconds (search §2.6). */
const intervalMs = 3000;

interface KeepingDeps {
  readonly database: Database;
  readonly log: Logger;
}

/** Creates the task that does for search indexes what their writers need not wait for. */
export const createSearchKeeping = ({ database, log }: KeepingDeps): BackgroundTask => {
  const prune = createPruning(database);
  return every({
    name: 'keep searched words',
    log,
    intervalMs,
    async run(ending) {
      for (const id of await findSearched(database)) {
        if (ending.aborted) return;
        await keepWords(database, id, prune, ending);
      }
    },
  });
};

/** The ids of the collections with a search index. */
async function findSearched({ query }: Pick<Database, 'query'>): Promise<string[]> {
  const rows = await query<{ id: string }>({
    text: `select id from system.collections where indexes @> '[{"search": {}}]' order by id`,
    values: [],
  });
  return rows.map(({ id }) => id);
}

async function keepWords(database: Database, id: string, prune: PruneKnownWords, ending: AbortSignal): Promise<void> {
  const collection = await loadCollection(database.query, id);
  const index = collection && findSearchIndex(collection);
  if (!collection || !index) return;
  try {
    if (index.search.typos) await addKnownWords({ database, collection, index, ending });
    await sortNewWords(database, collection, index);
    // Until it is built, the index lacks words that records have.
    if (index.search.typos && !index.isBuilding) await prune(collection, index);
  } catch (error) {
    // A schema change renamed or dropped something meanwhile.
    if (!isDatabaseError(error, sqlState.undefinedTable, sqlState.undefinedColumn)) throw error;
  }
}
