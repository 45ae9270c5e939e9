import type { Query } from '@recordbus/database';
import { isHidden } from '@recordbus/query';
import { type Collection, type Field, tableOf } from '@recordbus/schema';
import { allowedFunctions } from './allowed-functions.ts';
import { refusedQuery } from './view-query.ts';

/** A view's column as PostgreSQL sees it. */
export interface ViewColumn {
  readonly name: string;
  /** SQL type without its modifiers. */
  readonly type: string;
  /** The column that it passes through; undefined for a computed column. */
  readonly origin: { readonly collection: Collection; readonly column: string } | undefined;
}

/**
 * Inspects how PostgreSQL resolved a view's query: the tables and columns that it reads and the functions that it
 * calls. Throws 422 for those that a view may not read or call (views §2.4, §2.5).
 */
export async function inspectView(
  query: Query,
  view: string,
  collections: readonly Collection[],
  find: (collection: Collection) => string = tableOf,
): Promise<readonly ViewColumn[]> {
  const { oid, rule } = await readRule(query, view);
  const tables = await tablesByOid(query, collections, find);
  refuseTables(rule, oid, tables);
  await refuseFunctions(query, rule);
  await refuseColumns(query, view, tables);
  return readColumns(query, view, tables, originsOf(rule));
}

/**
 * Reads the stored tree for the view's query. It escapes spaces and braces in names, so patterns match only structure.
 */
async function readRule(query: Query, view: string): Promise<{ readonly oid: number; readonly rule: string }> {
  const [row] = await query<{ oid: string | number; rule: string }>({
    text: 'select ev_class::bigint as oid, ev_action::text as rule from pg_rewrite where ev_class = $1::regclass',
    values: [view],
  });
  if (!row) throw new Error(`${view} is not a view`);
  return { oid: Number(row.oid), rule: row.rule };
}

const oidsOf = (rule: string, pattern: RegExp): number[] => [
  ...new Set([...rule.matchAll(pattern)].map(([, oid]) => Number(oid))),
];

async function tablesByOid(
  query: Query,
  collections: readonly Collection[],
  find: (collection: Collection) => string,
): Promise<ReadonlyMap<number, Collection>> {
  const rows = await query<{ oid: string | number; place: number }>({
    text: 'select to_regclass(name)::oid::bigint as oid, place from unnest($1::text[]) with ordinality as t (name, place)',
    values: [collections.map(find)],
  });
  return new Map(
    rows.flatMap(({ oid, place }): [number, Collection][] => {
      const collection = collections[place - 1];
      return collection ? [[Number(oid), collection]] : [];
    }),
  );
}

/** Throws 422 for tables that are not collections. Up to PostgreSQL 15 the tree also names the view itself. */
function refuseTables(rule: string, view: number, tables: ReadonlyMap<number, Collection>): void {
  if (oidsOf(rule, / :relid (\d+)/g).some((oid) => oid !== 0 && oid !== view && !tables.has(oid)))
    throw refusedQuery('must read nothing but collections');
  if (/ :varattno 0 /.test(rule)) throw refusedQuery('cannot use a whole row as a value; name its columns');
  if (/ :varattno -/.test(rule)) throw refusedQuery('must not read system columns');
}

/** Functions called by name must be in the list. Those behind operators and casts must be built in and not volatile. */
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
    const isOpen = field
      ? !isHidden(field)
      : systemColumns.has(name) || (collection?.type === 'auth' && name === 'is_anonymous');
    if (!collection || !isOpen) throw refusedQuery(`must not read ${collection?.name ?? 'a table'}.${name}`);
  }
}

/** `*` includes `_revision`; `shapeView` leaves it out. */
const systemColumns = new Set(['id', 'created_at', 'updated_at', '_revision']);

interface Origin {
  readonly table: number;
  readonly column: number;
}

/** Returns the column that each output column passes through, by the output column's number. */
function originsOf(rule: string): ReadonlyMap<number, Origin> {
  const origins = new Map<number, Origin>();
  let depth = 0;
  // The outermost query's entries are at depth 2: within its braces and their own.
  for (const { 0: token, 1: number, 2: table, 3: column } of rule.matchAll(entry)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    else if (depth === 2 && table !== '0')
      origins.set(Number(number), { table: Number(table), column: Number(column) });
  }
  return origins;
}

/** Matches a brace in the tree or a target entry's end, and skips escaped characters. */
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

/** Returns the field that a column passes through; undefined for a computed column and for a system column. */
export const findOriginalField = ({ origin }: ViewColumn): Field | undefined =>
  origin?.collection.fields.find(({ name }) => name === origin.column);
