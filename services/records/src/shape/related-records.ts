import type { Link, Parameters, SqlTarget } from '@recordbus/query';
import { type RecordColumn, tableOf } from '@recordbus/schema';
import { type CompileContext, compileCondition, compileRule } from '../rules/compile-rule.ts';
import { readFilter, readSort } from './conditions.ts';
import type { Expansion, Referrers } from './expansion.ts';

/** A value in SQL that is computed for each record row. */
export interface RowValue {
  /** The columns that it reads, quoted. */
  readonly columns: readonly string[];
  /** A lateral FROM item, which follows the row. */
  readonly from: string;
  readonly text: string;
}

interface RelatedContext extends CompileContext {
  readonly parameters: Parameters;
}

/**
 * A select of `value`, for each record that an expansion shows for the record in the row of `place`. Lists keep their
 * order. `rowValue` returns the value for a row's alias.
 */
export function selectRelated(
  expansion: Expansion,
  place: SqlTarget,
  context: RelatedContext,
  rowValue: (row: string) => RowValue,
): string {
  const { column, isList, target, referrers, needsRuleCheck } = expansion;
  if (referrers) return selectReferrers({ ...expansion, referrers }, place.row, context, rowValue);
  const { parameters } = context;
  const row = parameters.alias();
  const { from: lateral, text } = rowValue(row);
  const rule = needsRuleCheck ? ` and ${compileRule(target, 'view', context, { row, parameters, isTable: true })}` : '';
  const select = (id: string) =>
    `select ${text} as value from ${tableOf(target)} ${row} ${lateral} where ${row}.id = ${id}${rule}`;
  const value = `${place.row}.${column}`;
  if (!isList) return select(value);
  const [ids, found] = [parameters.alias(), parameters.alias()];
  return selectListed(value, select(`${ids}.id`), { ids, found });
}

/** SQL that is null if the caller may not view the relation in this record. */
export const ifVisible = (
  { condition, referrers }: Expansion,
  sql: string,
  place: SqlTarget,
  context: CompileContext,
) =>
  condition && !referrers
    ? `case when ${compileCondition(condition.rule, condition.collection, context, place)} then ${sql} end`
    : sql;

function selectReferrers(
  expansion: Expansion & { readonly referrers: Referrers },
  from: string,
  context: RelatedContext,
  rowValue: (row: string) => RowValue,
): string {
  const { target, referrers } = expansion;
  const { parameters } = context;
  const [row, shown] = [parameters.alias(), parameters.alias()];
  const conditions = referrerConditions(expansion, row, from, context);
  const { joins, orderBy } = readSort(target, referrers.sort, { row, parameters, isTable: true }, context, 'expand');
  const { columns, from: lateral, text } = rowValue(shown);
  return `select ${text} as value from (
    select ${columnList(columns, row)} from ${tableOf(target)} ${row}${joins && ` ${joins}`} where ${conditions} order by ${orderBy} limit ${referrers.limit}
  ) ${shown} ${lateral}`;
}

/** How many records refer to the row of `from`, as SQL. */
export function countReferrers(
  expansion: Expansion & { readonly referrers: Referrers },
  from: string,
  context: RelatedContext,
): string {
  const row = context.parameters.alias();
  return `(select count(*) from ${tableOf(expansion.target)} ${row} where ${referrerConditions(expansion, row, from, context)})`;
}

function referrerConditions(
  { target, condition, referrers, needsRuleCheck }: Expansion & { readonly referrers: Referrers },
  row: string,
  from: string,
  context: RelatedContext,
): string {
  const { link, filter } = referrers;
  const place = { row, parameters: context.parameters, isTable: true };
  return [
    referrersOf(link, row, from),
    ...(needsRuleCheck ? [`(${compileRule(target, 'view', context, place)})`] : []),
    ...(condition ? [`(${compileCondition(condition.rule, target, context, place)})`] : []),
    ...(filter === undefined ? [] : [`(${readFilter(target, filter, place, context, 'expand')})`]),
  ].join(' and ');
}

/** The condition (SQL) that a row refers to the row of `from`. */
function referrersOf(link: Link, row: string, from: string): string {
  if (link.via === 'referrers') return `${row}.${link.column} = ${from}.id`;
  if (link.via === 'listReferrers' && link.table)
    return `${row}.id in (select l.owner from ${link.table} l where l.target = ${from}.id)`;
  return `${row}.${link.column} ? ${from}.id`;
}

/**
 * Selects a value for each record in an id list, in its order. The ids are sorted before the records are read, and
 * `offset 0` keeps the planner from changing the order, so the records are never all in memory at once.
 */
const selectListed = (
  list: string,
  record: string,
  { ids, found }: { readonly ids: string; readonly found: string },
): string =>
  `select ${found}.value from (
    select e.id from jsonb_array_elements_text(${list}) with ordinality e(id, place) order by e.place offset 0
  ) ${ids} cross join lateral (${record} offset 0) ${found}`;

/** A select list with a row's columns, under their own names. */
export const columnList = (columns: readonly RecordColumn['column'][], row: string): string =>
  columns.map((column) => `${row}.${column}`).join(', ');
