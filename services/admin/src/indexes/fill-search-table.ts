import { type Database, isDatabaseError, type Query, sqlState } from '@recordbus/database';
import { type Collection, type SearchIndex, searchTableOf, tableOf } from '@recordbus/schema';
import { insertWords, noteNewWords } from '../ddl/search-tables.ts';

/** The records of a batch stay locked until its end, and their writers wait: for less than a second (search §1.6). */
const batchTimeoutMs = 800;
const largestBatch = 500;

interface Filling {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly collection: Collection;
  readonly index: SearchIndex;
  readonly ending: AbortSignal;
}

/**
 * Adds the words of all records that the table lacks. Returns whether it then has all; not if some are being written,
 * whose triggers may not add them. Any number of replicas may fill one table: each skips the records of the others.
 */
export async function fillSearchTable({ database, collection, index, ending }: Filling): Promise<boolean> {
  let size = largestBatch;
  for (let last = ''; !ending.aborted; ) {
    try {
      const batch = await database.transaction((query) => addBatch(query, { collection, index, last, size }));
      if (batch.last === null) break;
      last = batch.last;
      size = Math.min(size * 2, largestBatch);
    } catch (error) {
      if (!isDatabaseError(error, sqlState.queryCanceled) || size === 1) throw error;
      size = Math.ceil(size / 8);
    }
  }
  return !ending.aborted && !(await lacksRecords(database.query, collection, index));
}

interface Batch extends Pick<Filling, 'collection' | 'index'> {
  /** The previous batch's last id. */
  readonly last: string;
  readonly size: number;
}

async function addBatch(query: Query, { collection, index, last, size }: Batch): Promise<{ last: string | null }> {
  // A single record may take as long as it needs.
  if (size > 1) await query({ text: `set local statement_timeout = ${batchTimeoutMs}`, values: [] });
  const [batch] = await query<{ last: string | null }>({
    text: `with page as materialized (
      select t.* from ${tableOf(collection)} t where t.id > $1 and ${isLacking(collection, index)}
      order by t.id limit $2 for no key update of t skip locked
    ), added as (
${insertWords(collection, index, 'page')} on conflict (id) do nothing returning id
    )${index.search.typos ? `, noted as (${noteNewWords(collection, index, 'added')})` : ''}
    select max(id) as last from page`,
    values: [last, size],
  });
  return batch ?? { last: null };
}

const isLacking = (collection: Collection, index: SearchIndex): string =>
  `not exists (select from ${searchTableOf(collection, index)} s where s.id = t.id)`;

async function lacksRecords(query: Query, collection: Collection, index: SearchIndex): Promise<boolean> {
  const [found] = await query<{ lacks: boolean }>({
    text: `select exists (select from ${tableOf(collection)} t where ${isLacking(collection, index)}) as lacks`,
    values: [],
  });
  return found?.lacks === true;
}
