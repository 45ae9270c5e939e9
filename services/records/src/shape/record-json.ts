import type { FieldAccess, NamedParameters, Parameters, SqlTarget } from '@recordbus/query';
import { type Collection, type Field, mayGrow, quoteLiteral, recordColumns } from '@recordbus/schema';
import { type CompileContext, compileCondition } from '../rules/compile-rule.ts';
import { type AnswerLimit, joinedWithinLimit, limitedText } from './answer-limit.ts';
import type { Expansion } from './expansion.ts';
import { type FieldSelection, selectedColumns } from './field-selection.ts';
import { describedFiles } from './file-details.ts';
import { countReferrers, ifVisible, type RowValue, selectRelated } from './related-records.ts';
import { objectText, shownMembers } from './shown-members.ts';

/** The members and expansions of a record that an answer shows. */
export interface Projection {
  readonly collection: Collection;
  readonly selection: FieldSelection;
  /** What the fields' view rules decide for the caller. */
  readonly view: FieldAccess;
  /** Undefined without the parameter `expand`: then the record has no member `expand`. */
  readonly expansions: readonly Expansion[] | undefined;
}

interface MaxBytes {
  /** How many bytes the answer may have. */
  readonly maxBytes: number;
}

/** The statement that the JSON is part of. Its parameter `maxBytes` is added only if the JSON is limited. */
export interface StatementContext extends CompileContext, Pick<AnswerLimit, 'isEstimated'> {
  readonly parameters: Parameters & Pick<NamedParameters<MaxBytes>, 'named'>;
}

/** A record's JSON text in SQL. */
export type RecordJson = RowValue;

interface RowOptions extends Pick<SqlTarget, 'isTable'> {
  /** A field's rule as SQL; by default it is evaluated on the row. */
  readonly conditionOf?: (rule: string) => string;
}

/**
 * Composes the JSON for the record in the given row. Expansions are subselects within the text, which find each row by
 * its primary key, so they run only for the page's rows.
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
  const described = describedFields(projection);
  const expansions = selectedExpansions(projection);
  const isRuled =
    conditional.length > 0 ||
    described.some(({ name }) => view.conditional.has(name)) ||
    expansions?.some(({ condition }) => condition !== undefined);
  const ofFiles = recordColumns(collection).filter(({ name }) => described.some((field) => field.name === name));
  // A field's rule may read any column.
  const read = isRuled ? recordColumns(collection) : [...columns, ...ofFiles, ...(expansions ?? [])];
  const more = filesMember(projection, described, row, conditionOf ?? compileRuleOf);
  return {
    columns: [...new Set(read.map(({ column }) => column))],
    from,
    text: withExpand(projection, [...conditional, ...more], { row, parameters, isTable }, context),
  };
}

/** The file fields that `_files` shows: those that the caller may view, if `fields` names it (records §11.3). */
export function describedFields({ collection, selection, view }: Projection): readonly Field[] {
  const files = selection.named('_files');
  const isShown = ({ name, type }: Field) => type === 'file' && !view.closed.has(name) && files?.member(name);
  return files ? collection.fields.filter(isShown) : [];
}

/** The member `_files` as a text after a comma. */
function filesMember(
  { collection, selection, view }: Projection,
  fields: readonly Field[],
  row: string,
  conditionOf: (rule: string) => string,
): readonly string[] {
  if (!selection.named('_files')) return [];
  if (fields.length === 0) return [`',"_files":{}'`];
  const entries = fields.map((field) => {
    const rule = view.conditional.get(field.name);
    const entry = describedFiles(collection, field, row);
    return rule === undefined ? entry : `case when ${conditionOf(rule)} then ${entry} end`;
  });
  return [`',"_files":{' || concat_ws(',', ${entries.join(', ')}) || '}'`];
}

/** The expansions that `fields` selects; undefined when it does not select `expand`. */
export function selectedExpansions({ selection, expansions }: Projection): readonly Expansion[] | undefined {
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
    return expandedMember(expansion, selection, place, context);
  });
  // concat_ws leaves out nulls, for targets that do not exist or that the caller may not view.
  const expand = expanded.length > 0 ? `concat_ws(',', ${expanded.join(', ')})` : "''";
  return ['left(row_to_json(r.*)::text, -1)', ...conditional, `',"expand":{'`, expand, `'}}'`].join(' || ');
}

/** SQL for `"name":record`, or for a list of records; null for a target that the caller may not view. */
function expandedMember(
  expansion: Expansion,
  selection: FieldSelection,
  place: SqlTarget,
  context: StatementContext,
): string {
  const { name, isList, target, view, referrers, inner } = expansion;
  const projection = { collection: target, selection, view, expansions: inner };
  const limit = (): AnswerLimit => ({ ...context, maxBytes: context.parameters.named('maxBytes', 'bigint') });
  const isLimited = inner !== undefined || isOpenEnded(target);
  const records = selectRelated(expansion, place, context, (row) => {
    const json = recordJson(projection, row, context);
    return isLimited ? { ...json, text: limitedText(json.text, limit()) } : json;
  });
  const label = quoteLiteral(`"${name}":`);
  if (!referrers && !isList)
    return ifVisible(expansion, `(select ${label} || m.value from (${records}) m)`, place, context);
  const items = `'[' || ${joinedWithinLimit(records, limit())} || ']'`;
  if (!referrers?.hasTotal) return ifVisible(expansion, `(${label} || ${items})`, place, context);
  const total = countReferrers({ ...expansion, referrers }, place.row, context);
  return `(${label} || '{"items":' || ${items} || ',"total":' || ${total} || '}')`;
}

/** Whether a record's JSON may be much larger than the body that wrote it. */
export const isOpenEnded = ({ type, fields }: Collection): boolean => type === 'view' || fields.some(mayGrow);
