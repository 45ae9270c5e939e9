import { isDatabaseError, newId, type Query, sqlState } from '@recordbus/database';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import { inspectView } from './inspect-view.ts';
import { shapeView } from './view-columns.ts';
import { readViewQuery, refusedQuery } from './view-query.ts';

interface Building {
  readonly query: Query;
  /** What its query may read. */
  readonly collections: readonly Collection[];
  /** Are the ids counted? They can't have become other ones when only the options of a field changed. */
  readonly checksIds: boolean;
}

/** How long the query of a view may take over the data that is there, in milliseconds. */
const patienceMs = 5000;

/**
 * Makes the database's view of a collection of type view from its query, and gives the collection with the fields that
 * come of it. Throws 422 for a query that is not one SELECT over collections, that reads or calls what it may not, or
 * whose ids are not unique over the data that is there; in the database's words where it is the database that refuses.
 */
export async function buildView(
  collection: Collection,
  { query, collections, checksIds }: Building,
): Promise<Collection> {
  const { select } = await readViewQuery(
    collection.viewQuery ?? '',
    collections.map(({ name }) => name),
  );
  const draft = `records.${quoteIdentifier(`draft:${newId()}`)}`;
  await inWordsOfDatabase(async () => {
    await query({ text: 'set local search_path = records, pg_catalog', values: [] });
    await query({ text: `create view ${draft} as ${select}`, values: [] });
    await query({ text: 'set local search_path to default', values: [] });
  });
  const columns = await inspectView(query, draft, collections);
  await query({ text: `drop view ${draft}`, values: [] });
  const { fields, lacking, selectList } = shapeView(columns);
  await query({ text: 'set local search_path = records, pg_catalog', values: [] });
  await query({ text: `create view ${tableOf(collection)} as select ${selectList} from (${select}\n) q`, values: [] });
  await query({ text: 'set local search_path to default', values: [] });
  const { lacking: _, ...rest } = collection;
  const view: Collection = { ...rest, fields, ...(lacking.length > 0 && { lacking }) };
  if (checksIds) await checkIds(query, view);
  return view;
}

/**
 * Throws 422 when ids are missing or double, and when the query fails or takes too long. Every column is reckoned, so
 * that one which fails is found now.
 */
async function checkIds(query: Query, view: Collection): Promise<void> {
  const [row] = await inWordsOfDatabase(async () => {
    await query({
      text: "select set_config('recordbus.timeout', current_setting('statement_timeout'), true)",
      values: [],
    });
    await query({ text: `set local statement_timeout = ${patienceMs}`, values: [] });
    const counted = await query<{ empty: number; double: number }>({
      text: `select coalesce(sum(count) filter (where id is null), 0)::bigint as empty,
        coalesce(sum(count - 1) filter (where id is not null), 0)::bigint as double, max(longest) as longest
        from (select v.id, count(*) as count, max(length(v::text)) as longest from ${tableOf(view)} v group by v.id) ids`,
      values: [],
    });
    await query({
      text: "select set_config('statement_timeout', current_setting('recordbus.timeout'), true)",
      values: [],
    });
    return counted;
  });
  if (!row) throw new Error('the count of ids gave no row');
  if (row.empty > 0) throw refusedQuery(`gives ${row.empty} rows without an id`);
  if (row.double > 0) throw refusedQuery(`must give each id once; ${row.double} rows have one that another row has`);
}

/** SQLSTATE classes of a query that is at fault itself: its syntax and names, its data, what it can't do. */
const ownFault = /^(0A|21|22|2F|39|42|54)/;

async function inWordsOfDatabase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDatabaseError(error, sqlState.queryCanceled))
      throw refusedQuery(`took longer than ${patienceMs / 1000} seconds over the data that is there`);
    if (!isDatabaseError(error) || !ownFault.test(error.code ?? '')) throw error;
    throw refusedQuery([error.message, error.detail, error.hint].filter(Boolean).join('; '));
  }
}
