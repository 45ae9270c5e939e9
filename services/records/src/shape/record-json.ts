import type { FieldAccess, Link, NamedParameters, Parameters, SqlTarget } from '@recordbus/query';
import { type Collection, mayGrow, quoteLiteral, type RecordColumn, recordColumns, tableOf } from '@recordbus/schema';
import { type CompileContext, compileCondition, compileRule } from '../rules/compile-rule.ts';
import { joinedWithinLimit, limitedText } from './answer-limit.ts';
import { readFilter, readSort } from './conditions.ts';
import type { Expansion, Referrers } from './expansion.ts';
import { type FieldSelection, selectedColumns } from './field-selection.ts';
import { objectText, shownMembers } from './shown-members.ts';

/** The members and expansions of a record that an answer shows. */
export interface Projection {
  readonly collection: Collection;
  readonly selection: FieldSelection;
  /** The decisions of the fields' view rules for the caller. */
  readonly view: FieldAccess;
  /** Undefined without the parameter `expand`: then the record has no member `expand`. */
  readonly expansions: readonly Expansion[] | undefined;
}

interface MaxBytes {
  /** The maximum number of bytes in the answer. */
  readonly maxBytes: number;
}

/** The statement that the JSON is part of. Its parameter `maxBytes` is added only if the JSON is limited. */
interface StatementContext extends CompileContext {
  readonly parameters: Parameters & Pick<NamedParameters<MaxBytes>, 'named'>;
}

/** The JSON text of a record in SQL. */
export interface RecordJson {
  /** The columns that it reads, quoted. */
  readonly columns: readonly string[];
  /** A lateral item of FROM, which follows the row. */
  readonly from: string;
  readonly text: string;
}

interface RowOptions extends Pick<SqlTarget, 'isTable'> {
  /** SQL of the rule of a field; by default it is evaluated on the row. */
  readonly conditionOf?: (rule: string) => string;
}

/**
 * Composes the JSON of the record in the given row. Expansions are subselects within the text, which find each row by its
 * primary key, so they run only for the rows of the page.
 */
export function recordJson(
  projection: Projection,
  row: string,
  context: StatementContext,
  { isTable, conditionOf }: RowOptions = { isTable: true },
): RecordJson {
  const { collection, view } = projection;
  const columns = selectedColumns(collection, projection.selection, view);
  const { parameters } = context;
  const compileRuleOf = (rule: string) => compileCondition(rule, collection, context, { row, parameters, isTable });
  const { from, conditional } = shownMembers({ columns, view }, row, parameters, conditionOf ?? compileRuleOf);
  const expansions = selectedExpansions(projection);
  const isRuled = conditional.length > 0 || expansions?.some(({ condition }) => condition !== undefined);
  // A rule of a field may read any column.
  const read = isRuled ? recordColumns(collection) : [...columns, ...(expansions ?? [])];
  return {
    columns: [...new Set(read.map(({ column }) => column))],
    from,
    text: withExpand(projection, conditional, { row, parameters, isTable }, context),
  };
}

/** The expansions that `fields` selects; undefined when it does not select `expand`. */
function selectedExpansions({ selection, expansions }: Projection): readonly Expansion[] | undefined {
  const expand = selection.member('expand');
  return expand && expansions?.filter(({ name }) => expand.member(name));
}

function withExpand(
  projection: Projection,
  conditional: readonly string[],
  place: SqlTarget,
  context: StatementContext,
): string {
  const expansions = selectedExpansions(projection);
  if (!expansions) return objectText(conditional);
  const expanded = expansions.map((expansion) => {
    const selection = projection.selection.member('expand')?.member(expansion.name);
    if (!selection) throw new Error(`the expansion ${expansion.name} is not selected`);
    return selectTarget(expansion, selection, place, context);
  });
  // concat_ws leaves out nulls, for targets that do not exist or that the caller may not view.
  const expand = expanded.length > 0 ? `concat_ws(',', ${expanded.join(', ')})` : "''";
  return ['left(row_to_json(r.*)::text, -1)', ...conditional, `',"expand":{'`, expand, `'}}'`].join(' || ');
}

/** A subselect of `"name":record`, or of `"name":[record,…]` for a list of ids and for records that refer to this one. */
function selectTarget(
  expansion: Expansion,
  selection: FieldSelection,
  place: SqlTarget,
  context: StatementContext,
): string {
  const from = place.row;
  const { name, column, isList, target, view, condition, referrers, needsRuleCheck, inner } = expansion;
  if (referrers) return selectReferrers({ ...expansion, referrers }, selection, from, context);
  const { parameters } = context;
  const row = parameters.alias();
  const projection = { collection: target, selection, view, expansions: inner };
  const { from: lateral, text: json } = recordJson(projection, row, context);
  const maxBytes = () => parameters.named('maxBytes', 'bigint');
  const text = inner || isOpenEnded(target) ? limitedText(json, maxBytes()) : json;
  const rule = needsRuleCheck ? ` and ${compileRule(target, 'view', context, { row, parameters, isTable: true })}` : '';
  const label = quoteLiteral(`"${name}":`);
  // A relation that the caller may not view in this record is treated as empty.
  const where = (sql: string) =>
    condition
      ? `case when ${compileCondition(condition.rule, condition.collection, context, place)} then ${sql} end`
      : sql;
  const rowsOf = (id: string) => `from ${tableOf(target)} ${row} ${lateral} where ${row}.id = ${id}${rule}`;
  if (!isList) return where(`(select ${label} || ${text} ${rowsOf(`${from}.${column}`)})`);
  const [ids, found] = [parameters.alias(), parameters.alias()];
  const records = selectListed(`${from}.${column}`, `select ${text} as json ${rowsOf(`${ids}.id`)}`, { ids, found });
  return where(`(${label} || '[' || ${joinedWithinLimit(records, maxBytes())} || ']')`);
}

/** A subselect of `"name":[record,…]` for the records that refer to a row, or of `"name":{items,total}`. */
function selectReferrers(
  { name, target, view, condition, referrers, needsRuleCheck, inner }: Expansion & { readonly referrers: Referrers },
  selection: FieldSelection,
  from: string,
  context: StatementContext,
): string {
  const { parameters } = context;
  const { link, filter, sort, limit, hasTotal } = referrers;
  const [row, shown] = [parameters.alias(), parameters.alias()];
  const place = { row, parameters, isTable: true };
  const conditions = [
    referrersOf(link, row, from),
    ...(needsRuleCheck ? [`(${compileRule(target, 'view', context, place)})`] : []),
    ...(condition ? [`(${compileCondition(condition.rule, target, context, place)})`] : []),
    ...(filter === undefined ? [] : [`(${readFilter(target, filter, place, context, 'expand')})`]),
  ].join(' and ');
  const { joins, orderBy } = readSort(target, sort, place, context, 'expand');
  const projection = { collection: target, selection, view, expansions: inner };
  const { columns, from: lateral, text: json } = recordJson(projection, shown, context);
  const maxBytes = parameters.named('maxBytes', 'bigint');
  const text = inner || isOpenEnded(target) ? limitedText(json, maxBytes) : json;
  const records = `select ${text} as json from (
    select ${columnList(columns, row)} from ${tableOf(target)} ${row}${joins && ` ${joins}`} where ${conditions} order by ${orderBy} limit ${limit}
  ) ${shown} ${lateral}`;
  const items = `'[' || ${joinedWithinLimit(records, maxBytes)} || ']'`;
  const label = quoteLiteral(`"${name}":`);
  if (!hasTotal) return `(${label} || ${items})`;
  const total = `(select count(*) from ${tableOf(target)} ${row} where ${conditions})`;
  return `(${label} || '{"items":' || ${items} || ',"total":' || ${total} || '}')`;
}

/** The condition (SQL) that a row refers to the row of `from`. */
function referrersOf(link: Link, row: string, from: string): string {
  if (link.via === 'referrers') return `${row}.${link.column} = ${from}.id`;
  if (link.via === 'listReferrers' && link.table)
    return `${row}.id in (select l.owner from ${link.table} l where l.target = ${from}.id)`;
  return `${row}.${link.column} ? ${from}.id`;
}

/**
 * A select of the JSON of the records in a list of ids, in its order. The ids are sorted before the records are read,
 * and `offset 0` keeps the planner from changing the order, so the records are never all in memory at once.
 */
const selectListed = (
  list: string,
  record: string,
  { ids, found }: { readonly ids: string; readonly found: string },
): string =>
  `select ${found}.json from (
    select e.id from jsonb_array_elements_text(${list}) with ordinality e(id, place) order by e.place offset 0
  ) ${ids} cross join lateral (${record} offset 0) ${found}`;

/** Whether the JSON of a record may be much larger than the body that wrote it. */
export const isOpenEnded = ({ type, fields }: Collection): boolean => type === 'view' || fields.some(mayGrow);

/** A select list of columns of a row, under their own names. */
export const columnList = (columns: readonly RecordColumn['column'][], row: string): string =>
  columns.map((column) => `${row}.${column}`).join(', ');
