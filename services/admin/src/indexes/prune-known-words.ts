import type { Database, Query } from '@recordbus/database';
import {
  type Collection,
  hasOwnLanguages,
  knownWordsTableOf,
  languagesOf,
  quoteLiteral,
  type SearchIndex,
  searchTableOf,
} from '@recordbus/schema';

/** How many known words a run looks up: 20,000 in five minutes. */
const batchSize = 200;

/** Drops some known words that no record of the index has. */
export type PruneKnownWords = (collection: Collection, index: SearchIndex) => Promise<void>;

/** How far an index's known words have been looked up. */
interface Pass {
  /** How many records had lost words when the pass began. */
  readonly lost: string;
  /** The last word that was looked up; undefined after all words. */
  readonly last: string | undefined;
}

/**
 * Creates the pruning of known words. Each run looks up a batch of them. After the last word a new pass begins once more
 * records have been changed or deleted.
 */
export function createPruning(database: Pick<Database, 'query' | 'transaction'>): PruneKnownWords {
  const passes = new Map<string, Pass>();
  return async (collection, index) => {
    const key = searchTableOf(collection, index);
    const lost = await countLost(database.query, key);
    const pass = passes.get(key);
    if (pass && pass.last === undefined && pass.lost === lost) return;
    const begun = pass?.last === undefined ? { lost, last: '' } : pass;
    const last = await database.transaction((query) =>
      pruneBatch(query, { collection, index, after: begun.last ?? '' }),
    );
    passes.set(key, { lost: begun.lost, last });
  };
}

/** How many records have lost words since the statistics began. It may be late, and starts again after a crash. */
async function countLost(query: Query, table: string): Promise<string> {
  const [found] = await query<{ lost: string }>({
    text: `select (pg_stat_get_tuples_updated(t) + pg_stat_get_tuples_deleted(t))::text as lost
      from (select $1::text::regclass as t) named`,
    values: [table],
  });
  return found?.lost ?? '';
}

interface Batch {
  readonly collection: Collection;
  readonly index: SearchIndex;
  /** The previous batch's last word. */
  readonly after: string;
}

/**
 * Returns the batch's last word; undefined if there are no more. Meanwhile nobody adds known words: a word of a record that
 * this statement does not see yet is added later.
 */
async function pruneBatch(query: Query, { collection, index, after }: Batch): Promise<string | undefined> {
  const known = knownWordsTableOf(collection, index);
  await query({ text: `lock table ${known} in share row exclusive mode`, values: [] });
  // To find out that no record has a word, the planner would rather read all of them.
  await query({ text: 'set local enable_seqscan = off', values: [] });
  const [batch] = await query<{ last: string | null; size: number }>({
    text: `with picked as materialized (
      select word from ${known} where word > $1 order by word limit ${batchSize}
    ), dropped as (
      delete from ${known} k using picked p where k.word = p.word and not ${isInRecord(collection, index, 'p.word')}
    )
    select max(word) as last, count(*)::integer as size from picked`,
    values: [after],
  });
  return batch?.size === batchSize ? (batch.last ?? undefined) : undefined;
}

/** Whether a record has the word, or one with the same stem. Stop words are in no index: they stay. */
function isInRecord(collection: Collection, index: SearchIndex, word: string): string {
  const found = languagesOf(collection, index).map((language) => {
    const config = quoteLiteral(`pg_catalog.${language === 'cjk' ? 'simple' : language}`);
    const query = `plainto_tsquery(${config}::regconfig, ${word})`;
    const ofLanguage = hasOwnLanguages(index) ? ` and s.language = ${quoteLiteral(language)}` : '';
    return `(numnode(${query}) = 0 or exists (select from ${searchTableOf(collection, index)} s where s.document @@ ${query}${ofLanguage}))`;
  });
  return `(${found.join(' or ')})`;
}
