import { createHash } from 'node:crypto';
import type { CrossedCollection, LiveRequest } from '@recordbus/live';
import { createNamedParameters, type EventRows, eventAlias, type NamedParameters } from '@recordbus/query';
import { type Collection, encryptedFieldsOf, quoteIdentifier } from '@recordbus/schema';
import { type CompileContext, callerKind, compileRuleByCaller } from '../rules/compile-rule.ts';
import { isOpen } from '../rules/field-rules.ts';
import { needsRuleCheck } from '../rules/rule-context.ts';
import { readFilter } from '../shape/conditions.ts';
import { everything, selectedColumns } from '../shape/field-selection.ts';
import { readProjection } from '../shape/read-projection.ts';
import type { Projection } from '../shape/record-json.ts';
import { type CallerColumns, callerAlias, createCallerColumns } from './caller-columns.ts';
import { type CandidatesStatement, compileCandidatesOf } from './candidates.ts';
import { findCrossed } from './crossed.ts';
import { composeJudge, type ShownReads } from './judge-sql.ts';

/** The values for each run of a statement, which uses those that it needs. */
export interface JudgeValues extends EventRows {
  /** The callers' values, an array's text for each column. */
  readonly columns: ReadonlyMap<string, string>;
  /** How many bytes one record's JSON may have. */
  readonly maxBytes: number;
}

/** A condition (SQL) on an event's row, and possibly a caller's row. */
export interface Condition {
  readonly sql: string;
  /** Whether it reads a caller's row. */
  readonly reads: boolean;
}

/** When an event's row matches, and which JSON is shown. */
export interface Judged {
  readonly collection: Collection;
  /** For a record and a caller at most one holds. Undefined if every record matches. */
  readonly conditions: readonly Condition[] | undefined;
  readonly projection: Projection;
  /** Whether the event has the same JSON as a get. */
  readonly showsEvent: boolean;
}

/** A statement that judges events, for subscriptions that differ in their values. */
export interface CompiledPlan extends Pick<NamedParameters<JudgeValues>, 'valuesFrom'>, Judged {
  readonly key: string;
  readonly text: string;
  /** The callers' values that the JSON reads. */
  readonly shownReads: ShownReads;
  /** Whether the JSON has encrypted fields, which events leave out. */
  readonly needsSealed: boolean;
  /** Whether a deleted record is shown as it was. */
  readonly showsDeleted: boolean;
  /** The record's fields that the condition reads. */
  readonly ownFields: readonly string[];
  readonly columns: CallerColumns<JudgeValues>;
  readonly crossed: readonly CrossedCollection[];
  /** Undefined if records do not lead to the accounts that may see them. */
  readonly candidates: CandidatesStatement | undefined;
}

/** Compiles a subscription. Throws 400 for an invalid filter or `expand`. */
export function compilePlan(collection: Collection, request: LiveRequest, context: CompileContext): CompiledPlan {
  const parameters = createNamedParameters<JudgeValues>();
  const columns = createCallerColumns(parameters);
  const conditions = compileConditions(collection, request, columns, context);
  const projection = readProjection(collection, request, context);
  const { selection, view, expansions } = projection;
  const shown = new Set(selectedColumns(collection, selection, view).map(({ name }) => name));
  const needsSealed = encryptedFieldsOf(collection).some(({ name }) => shown.has(name));
  const showsEvent = selection === everything && isOpen(view) && !expansions && !needsSealed;
  const judged = { collection, conditions, projection, showsEvent };
  const { text, shownReads } = composeJudge(judged, { parameters, columns, context });
  const fixed = parameters.valuesFrom(noValues);
  const { fields, expand, showsDeleted = false } = request;
  const shownOf = [fields, expand, ...(showsDeleted ? ['deleted'] : [])];
  const key = hashOf([collection.id, callerKind(context), text, fixed, columns.types, ...shownOf]);
  return {
    ...judged,
    key,
    text,
    valuesFrom: parameters.valuesFrom,
    shownReads,
    needsSealed,
    showsDeleted,
    ownFields: fieldsIn(conditions?.map(({ sql }) => sql).join(' ') ?? '', collection),
    columns,
    crossed: findCrossed(collection, request, context),
    candidates: compileCandidatesOf(collection, request.record === undefined ? 'list' : 'view', context),
  };
}

/**
 * The rule that applies to the caller, and the filter, as conditions, at most one of which holds for a record and a
 * caller; undefined if there is neither.
 */
function compileConditions(
  collection: Collection,
  { record, filter }: LiveRequest,
  columns: CallerColumns<JudgeValues>,
  context: CompileContext,
): readonly Condition[] | undefined {
  const conditions: string[] = [];
  const place = { row: eventAlias, isTable: false };
  const action = record === undefined ? 'list' : 'view';
  if (record !== undefined) conditions.push(`${eventAlias}.id = ${columns.recordId()}`);
  if (filter !== undefined)
    conditions.push(`(${readFilter(collection, filter, { ...place, parameters: columns.ofClient }, context)})`);
  const filterReads = columns.reads > 0;
  if (!needsRuleCheck(collection, action, context))
    return conditions.length > 0 ? [{ sql: conditions.join(' and '), reads: filterReads }] : undefined;
  const rules = compileRuleByCaller(collection, action, context, { ...place, parameters: columns.ofRule });
  return rules.map((rule) => ({
    sql: [...conditions, `(${rule})`].join(' and '),
    reads: filterReads || rule.includes(`${callerAlias}.`),
  }));
}

/** The record's fields that a condition names. Its text contains no values, only parameters. */
const fieldsIn = (condition: string, { fields }: Collection): string[] =>
  fields.map(({ name }) => name).filter((name) => condition.includes(`${eventAlias}.${quoteIdentifier(name)}`));

const noValues: JudgeValues = {
  given: '',
  givenCount: 0,
  columns: new Map(),
  maxBytes: 0,
};

const hashOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
