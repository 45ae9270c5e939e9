import type { Database } from '@recordbus/database';
import {
  type Collection,
  documentSql,
  knownWordsTableOf,
  languagesOf,
  newWordsTableOf,
  quoteLiteral,
  type SearchIndex,
  tableOf,
} from '@recordbus/schema';

/** How many records' words one transaction adds. */
const batchSize = 500;

/** What a typo may mean: words of letters, neither short nor very long. */
const isKnownWord = String.raw`length(word) between 3 and 40 and word !~ '[\x21-\x60\x7b-\x7e]'`;

interface Adding {
  readonly database: Pick<Database, 'query'>;
  readonly collection: Collection;
  readonly index: SearchIndex;
  readonly ending: AbortSignal;
}

/**
 * Adds the words of new and changed records to those that typos are compared with. Any number of replicas may do so at
 * once: each skips the records of the others, and all insert in one order, so none waits in a circle.
 */
export async function addKnownWords({ database, collection, index, ending }: Adding): Promise<void> {
  const language = languagesOf(collection, index).includes('cjk') ? 'cjk' : 'simple';
  const words = documentSql(collection, index, 'r', index.search.fields, quoteLiteral(language));
  const noted = newWordsTableOf(collection, index);
  const text = `with picked as materialized (
      select ctid from ${noted} limit ${batchSize} for update skip locked
    ), taken as (
      delete from ${noted} n using picked p where n.ctid = p.ctid returning n.id
    ), found as materialized (
      select distinct word from (select distinct id from taken) k join ${tableOf(collection)} r on r.id = k.id
      cross join lateral unnest(tsvector_to_array(${words})) word where ${isKnownWord}
    ), added as (
      insert into ${knownWordsTableOf(collection, index)} (word, letters)
      select word, (select bit_or(1::bigint << (ascii(c) % 63)) from unnest(string_to_array(word, null)) c)
      from found order by word on conflict (word) do nothing
    )
    select count(*)::integer as taken from taken`;
  while (!ending.aborted) {
    const [batch] = await database.query<{ taken: number }>({ text, values: [] });
    if (!batch || batch.taken < batchSize) return;
  }
}
