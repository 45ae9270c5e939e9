import type { Query } from '@recordbus/database';
import { findMissingIndex, type WantedIndex } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { CollectionChange } from './collection-draft.ts';
import { actions } from './read-rules.ts';
import { originOf } from './rule-origin.ts';

/** From this many records, a warning is due. */
const largeCount = 100_000;

/**
 * Returns a warning for each rule in a change that makes every request read a large collection's records although an
 * index could help (rules §6.3).
 */
export async function warningsOfMissingIndexes(
  query: Query,
  collection: Collection,
  collections: readonly Collection[],
  change: CollectionChange,
): Promise<string[]> {
  const written = actions.filter((name) => change[`${name}_rule`]);
  if (written.length === 0) return [];
  const large = await findLarge(query);
  if (large.size === 0) return [];
  const { schema, accounts } = originOf(collection, collections);
  return written.flatMap((name) => {
    const rule = collection.rules[name] ?? '';
    for (const caller of [undefined, ...accounts]) {
      const isLarge = (other: Collection) => large.has(other.name);
      const wanted = findMissingIndex(rule, { collection, schema, caller, isLarge, isFound: !asksMany.has(name) });
      if (wanted) return [sentenceOf(name, collection, wanted)];
    }
    return [];
  });
}

/**
 * Rules that are asked about many records: which ones a list has, and which ones a caller may change or delete. The others
 * are asked about one record at a time.
 */
const asksMany: ReadonlySet<string> = new Set(['list', 'update', 'delete']);

const sentenceOf = (rule: string, { name }: Collection, { collection, column, type }: WantedIndex): string =>
  `${rule}_rule of ${name} has no index to begin with, so finding what it admits reads every record in ${collection.name}: make an index${
    type === 'trigram' ? ' of type trigram' : ''
  } of ${collection.name} on ${JSON.stringify(column)}.`;

/** Returns the large collections' names, by the planner's estimate. */
async function findLarge(query: Query): Promise<ReadonlySet<string>> {
  const rows = await query<{ name: string }>({
    text: `select relname as name from pg_class
      where relnamespace = 'records'::regnamespace and relkind = 'r' and reltuples > $1`,
    values: [largeCount],
  });
  return new Set(rows.map(({ name }) => name));
}
