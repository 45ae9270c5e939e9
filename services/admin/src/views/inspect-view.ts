import type { Query } from '@recordbus/database';
import { isSealed } from '@recordbus/query';
import { type Collection, type Field, tableOf } from '@recordbus/schema';
import { allowedFunctions } from './allowed-functions.ts';
import { refusedQuery } from './view-query.ts';

/** A column of a view as PostgreSQL sees it. */
export interface ViewColumn {
  readonly name: string;
  /** SQL type without its modifiers. */
  readonly type: string;
  /** Where its values come from as they are; undefined when they are reckoned. */
  readonly origin: { readonly collection: Collection; readonly column: string } | undefined;
}

/**
 * Looks at what PostgreSQL has made of the query of a view: which tables and columns it reads and which functions it
 * calls, whatever the names in its text may be. Throws 422 for what a view may not read or call (contract §2, §8).
 */
export async function inspectView(
  query: Query,
  view: string,
  collections: readonly Collection[],
): Promise<readonly ViewColumn[]> {
  const { oid, rule } = await readRule(query, view);
  const tables = await tablesByOid(query, collections);
  refuseTables(rule, oid, tables);
  await refuseFunctions(query, rule);
  await refuseColumns(query, view, tables);
  return readColumns(query, view, tables, originsOf(rule));
}

/** The tree of the view's query; names in it have their spaces and brackets escaped, so they look like nothing else. */
async function readRule(query: Query, view: string): Promise<{ readonly oid: number; readonly rule: string }> {
  const [row] = await query<{ oid: string | number; rule: string }>({
    text: 'select ev_class::bigint as oid, ev_action::text as rule from pg_rewrite where ev_class = $1::regclass',
    values: [view],
  });
  if (!row) throw new Error(`${view} is no view`);
  return { oid: Number(row.oid), rule: row.rule };
}

const oidsOf = (rule: string, pattern: RegExp): number[] => [
  ...new Set([...rule.matchAll(pattern)].map(([, oid]) => Number(oid))),
];

async function tablesByOid(query: Query, collections: readonly Collection[]): Promise<ReadonlyMap<number, Collection>> {
  const rows = await query<{ oid: string | number; place: number }>({
    text: 'select to_regclass(name)::oid::bigint as oid, place from unnest($1::text[]) with ordinality as t (name, place)',
    values: [collections.map(tableOf)],
  });
  return new Map(
    rows.flatMap(({ oid, place }): [number, Collection][] => {
      const collection = collections[place - 1];
      return collection ? [[Number(oid), collection]] : [];
    }),
  );
}

/** Up to version 15 the tree also names the view itself, for the old and the new row of its rule. */
function refuseTables(rule: string, view: number, tables: ReadonlyMap<number, Collection>): void {
  if (oidsOf(rule, / :relid (\d+)/g).some((oid) => oid !== 0 && oid !== view && !tables.has(oid)))
    throw refusedQuery('must read nothing but collections');
  if (/ :varattno 0 /.test(rule)) throw refusedQuery("can't take a whole row as a value; name its columns");
  if (/ :varattno -/.test(rule)) throw refusedQuery("must not read the database's own columns");
}

/** What is called by name must be on the list; what an operator or a cast calls must be PostgreSQL's own and read nothing. */
async function refuseFunctions(query: Query, rule: string): Promise<void> {
  const called = [
    ...oidsOf(
      rule,
      /\{FUNCEXPR :funcid (\d+) :funcresulttype \d+ :funcretset \w+ :funcvariadic \w+ :funcformat [03] /g,
    ),
    ...oidsOf(rule, / :(?:aggfnoid|winfnoid) (\d+)/g),
  ];
  const all = oidsOf(rule, / :(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)/g).filter((oid) => oid !== 0);
  const rows = await query<{ oid: number; name: string; isOwn: boolean }>({
    text: `select oid::bigint as oid, proname as name,
      pronamespace = 'pg_catalog'::regnamespace and provolatile <> 'v' as "isOwn"
      from pg_proc where oid = any($1::oid[])`,
    values: [all],
  });
  const byOid = new Map(rows.map((row) => [Number(row.oid), row]));
  for (const oid of all) {
    const found = byOid.get(oid);
    if (!found?.isOwn || (called.includes(oid) && !allowedFunctions.has(found.name)))
      throw refusedQuery(`must not call the function ${found?.name ?? oid}`);
  }
}

async function refuseColumns(query: Query, view: string, tables: ReadonlyMap<number, Collection>): Promise<void> {
  const rows = await query<{ table: number; name: string }>({
    text: `select distinct d.refobjid::bigint as table, a.attname as name
      from pg_rewrite r
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid and d.refobjsubid <> 0
      where r.ev_class = $1::regclass and d.refobjid <> r.ev_class`,
    values: [view],
  });
  for (const { table, name } of rows) {
    const collection = tables.get(Number(table));
    const field = collection?.fields.find((other) => other.name === name);
    const isOpen = field ? !isSealed(field) : systemColumns.has(name);
    if (!collection || !isOpen) throw refusedQuery(`must not read ${collection?.name ?? 'a table'}.${name}`);
  }
}

const systemColumns = new Set(['id', 'created_at', 'updated_at']);

interface Origin {
  readonly table: number;
  readonly column: number;
}

/** Of each output column, by its number, the column that it hands on. */
function originsOf(rule: string): ReadonlyMap<number, Origin> {
  const origins = new Map<number, Origin>();
  let depth = 0;
  // Entries of the outermost query stand within its braces and their own.
  for (const { 0: token, 1: number, 2: table, 3: column } of rule.matchAll(entry)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    else if (depth === 2 && table !== '0')
      origins.set(Number(number), { table: Number(table), column: Number(column) });
  }
  return origins;
}

/** A brace that belongs to the tree, or the end of a target entry; what is escaped is skipped. */
const entry =
  /\\.|[{}]|:resno (\d+) :resname (?:\\.|[^\\ ])+ :ressortgroupref \d+ :resorigtbl (\d+) :resorigcol (\d+)/g;

async function readColumns(
  query: Query,
  view: string,
  tables: ReadonlyMap<number, Collection>,
  origins: ReadonlyMap<number, Origin>,
): Promise<readonly ViewColumn[]> {
  const rows = await query<{ number: number; name: string; type: string }>({
    text: `select attnum as number, attname as name, format_type(atttypid, null) as type
      from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum`,
    values: [view],
  });
  const columns: ViewColumn[] = [];
  for (const { number, name, type } of rows) {
    const origin = origins.get(number);
    const collection = origin && tables.get(origin.table);
    const column = origin && collection && (await nameOfColumn(query, origin));
    columns.push({ name, type, origin: collection && column !== undefined ? { collection, column } : undefined });
  }
  return columns;
}

async function nameOfColumn(query: Query, { table, column }: Origin): Promise<string | undefined> {
  const [row] = await query<{ name: string }>({
    text: 'select attname as name from pg_attribute where attrelid = $1::oid and attnum = $2',
    values: [table, column],
  });
  return row?.name;
}

/** The field that a column hands on; undefined for one that is reckoned, and for a system column. */
export const findOriginalField = ({ origin }: ViewColumn): Field | undefined =>
  origin?.collection.fields.find(({ name }) => name === origin.column);
