import { isDatabaseError, newId, type Query, sqlState } from '@recordbus/database';
import { accountColumns, type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import { inspectView } from './inspect-view.ts';
import { shapeView } from './view-columns.ts';
import { readViewQuery, refusedQuery } from './view-query.ts';

interface BuildContext {
  readonly query: Query;
  /** The collections that the query may read. */
  readonly collections: readonly Collection[];
  /** Whether to check that ids are unique. A change to field options alone cannot change them. */
  readonly checksIds: boolean;
  /** The tables to use instead of those in `records`, to only try a view. */
  readonly tried?: TriedTables;
}

/** Tables in which a view is tried, so that the collections' own stay untouched. */
export interface TriedTables {
  /** The schema for the view, and for tables that replace those in `records`. */
  readonly schema: string;
  tableOf(collection: Pick<Collection, 'name'>): string;
}

/** How long a view's query may take over the stored data, in milliseconds. */
const queryTimeoutMs = 5000;

/**
 * Creates the database view for a view collection and returns the collection with its query's fields. Throws 422 for a
 * query that is not one SELECT over collections, that reads or calls what it may not, or whose ids are not unique over
 * the stored data. When the database refuses the query, the error has the database's message.
 */
export async function buildView(
  collection: Collection,
  { query, collections, checksIds, tried }: BuildContext,
): Promise<Collection> {
  const find = tried?.tableOf ?? tableOf;
  const searchPath = tried ? `${tried.schema}, records, pg_catalog` : 'records, pg_catalog';
  const { select } = await readViewQuery(collection.viewQuery ?? '', collections);
  const draft = `${tried?.schema ?? 'records'}.${quoteIdentifier(`draft:${newId()}`)}`;
  await reportingDatabaseErrors(async () => {
    await query({ text: `set local search_path = ${searchPath}`, values: [] });
    await query({ text: `create view ${draft} as ${select}`, values: [] });
    await query({ text: 'set local search_path to default', values: [] });
  });
  const columns = await inspectView(query, draft, collections, find);
  await query({ text: `drop view ${draft}`, values: [] });
  const { fields, lacking, selectList } = shapeView(columns);
  await query({ text: `set local search_path = ${searchPath}`, values: [] });
  // The permissions belong to the role that reads the view, not to its owner.
  const options = 'with (security_invoker = true)';
  await query({
    text: `create view ${find(collection)} ${options} as select ${selectList} from (${select}\n) q`,
    values: [],
  });
  await query({ text: 'set local search_path to default', values: [] });
  const { lacking: _, ...rest } = collection;
  const view: Collection = { ...rest, fields, ...(lacking.length > 0 && { lacking }) };
  if (checksIds) await checkIds(query, view);
  return view;
}

/**
 * Throws 422 when ids are missing or not unique, and when the query fails or takes too long. It computes every column
 * to find one that fails.
 */
async function checkIds(query: Query, view: Collection): Promise<void> {
  const [row] = await reportingDatabaseErrors(async () => {
    await query({
      text: "select set_config('recordbus.timeout', current_setting('statement_timeout'), true)",
      values: [],
    });
    await query({ text: `set local statement_timeout = ${queryTimeoutMs}`, values: [] });
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
  if (!row) throw new Error('the id count returned no row');
  if (row.empty > 0) throw refusedQuery(`returns ${row.empty} rows without an id`);
  if (row.double > 0) throw refusedQuery(`must return each id once; ${row.double} rows repeat an id`);
}

/** SQLSTATE classes for errors in the query itself: syntax, names, data, unsupported features. */
const queryErrorClasses = /^(0A|21|22|2F|39|42|54)/;

/** Throws 422 with the database's message when it refuses a view's query or the query takes too long. */
export async function reportingDatabaseErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDatabaseError(error, sqlState.queryCanceled))
      throw refusedQuery(`took longer than ${queryTimeoutMs / 1000} seconds over the stored data`);
    if (!isDatabaseError(error) || !queryErrorClasses.test(error.code ?? '')) throw error;
    throw refusedQuery(
      [error.message, error.detail, mentionsInternalColumn(error.hint) ? '' : error.hint].filter(Boolean).join('; '),
    );
  }
}

const internalColumns = new Set(['created_at', 'updated_at', '_revision', ...accountColumns.map(({ name }) => name)]);

/** Whether a hint from the database names a column that a view may not read or that records show under another name. */
const mentionsInternalColumn = (hint: string | undefined): boolean =>
  [...(hint ?? '').matchAll(/[\w$]+/g)].some(([word]) => internalColumns.has(word));
