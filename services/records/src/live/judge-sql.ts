import { eventAlias, eventNumber, isAfter, type NamedParameters, selectEventRows } from '@recordbus/query';
import { type CompileContext, compileCondition } from '../rules/compile-rule.ts';
import { limitedText } from '../shape/answer-limit.ts';
import { selectedColumns } from '../shape/field-selection.ts';
import { describedFields, isOpenEnded, recordJson } from '../shape/record-json.ts';
import { type CallerColumns, callerAlias, callerNumber, isArray } from './caller-columns.ts';
import type { Condition, Judged, JudgeValues } from './compile-plan.ts';

/** A result row: callers for whom a record matches, possibly with its JSON for them. */
export interface JudgedRow {
  /** The event's number. */
  readonly n: number;
  readonly isAfter: boolean;
  /** The callers' numbers, separated by commas; null if they do not matter. */
  readonly callers: string | null;
  readonly json: string | null;
}

interface JudgeParts {
  readonly parameters: NamedParameters<JudgeValues>;
  readonly columns: CallerColumns<JudgeValues>;
  readonly context: CompileContext;
}

/**
 * Composes the statement that judges events. It has a row for each event and, if callers' values are read, a row for
 * each caller, so one statement decides for all.
 */
export function composeJudge(judged: Judged, parts: JudgeParts): { text: string; shownReads: ShownReads } {
  const { parameters, columns } = parts;
  const { collection, conditions = [{ sql: 'true', reads: false }] } = judged;
  const json = compileShown(judged, parts);
  const shown = { ...json, text: `case when ${isAfter} then ${json.text} end` };
  const events = `event as materialized (\n  ${selectEventRows(collection, parameters)}\n)`;
  const callers =
    columns.count > 0 ? `, ${callerAlias} as materialized (\n  ${selectCallers(columns, parameters)}\n)` : '';
  const compose = { nothing: composeAlike, rules: composeByRules, anything: composeForEach }[shown.reads];
  return { text: `with ${events}${callers}${compose(conditions, shown)}`, shownReads: shown.reads };
}

/** The callers' values that a record's JSON reads: only those in field rules, or possibly more. */
export type ShownReads = 'nothing' | 'rules' | 'anything';

/** A record's JSON. */
interface Shown {
  readonly text: string;
  readonly from: string;
  /** With `rules`, their results are the columns `b1`, … in the row `g`. */
  readonly reads: ShownReads;
  readonly rules: readonly string[];
}

function compileShown(
  { collection, projection, showsEvent }: Judged,
  { parameters, columns, context }: JudgeParts,
): Shown {
  // The event has the text already.
  if (showsEvent) return { text: 'null::text', from: '', reads: 'nothing', rules: [] };
  const { view, expansions } = projection;
  const place = { parameters: columns.ofRule, ...context };
  const readBefore = columns.reads;
  const isLimited = expansions !== undefined || isOpenEnded(collection);
  const limit = (json: string) =>
    isLimited ? limitedText(json, { maxBytes: parameters.named('maxBytes', 'bigint') }) : json;
  if (expansions || view.conditional.size === 0) {
    const { from, text } = recordJson(projection, eventAlias, place, { isTable: false });
    return { from, text: limit(text), reads: columns.reads > readBefore ? 'anything' : 'nothing', rules: [] };
  }
  const shown = selectedColumns(collection, projection.selection, view);
  const named = [...shown, ...describedFields(projection)];
  const rules = [...new Set(named.flatMap(({ name }) => view.conditional.get(name) ?? []))];
  const row = { row: eventAlias, parameters: columns.ofRule, isTable: false };
  const compiled = rules.map((rule) => compileCondition(rule, collection, context, row));
  const reads = columns.reads > readBefore ? 'rules' : 'nothing';
  const conditionOf = (rule: string) =>
    reads === 'rules' ? `g.b${rules.indexOf(rule) + 1}` : (compiled[rules.indexOf(rule)] ?? 'false');
  const { from, text } = recordJson(projection, eventAlias, place, { isTable: false, conditionOf });
  return { from, text: limit(text), reads, rules: compiled };
}

/** For records that look the same to all callers. */
function composeAlike(conditions: readonly Condition[], { text, from }: Shown): string {
  if (!conditions.some(({ reads }) => reads)) {
    const where = conditions.map(({ sql }) => `(${sql})`).join(' or ');
    return `\nselect ${head}, null::text as callers, ${text} as json from event ${from} where ${where}`;
  }
  return `, matched as materialized (
  select s.n, s.is_after, ${joined('s.c')} as callers from (${conditions.map((one) => selectMatching(one)).join(' union all ')}) s group by s.n, s.is_after
)
select ${head}, m.callers, ${text} as json
from matched m join event on ${eventNumber} = m.n and ${isAfter} = m.is_after ${from}`;
}

/** Writes the JSON once for all callers for whom the same field rules hold, since they see the same. */
function composeByRules(conditions: readonly Condition[], { text, from, rules }: Shown): string {
  const names = rules.map((_rule, index) => `b${index + 1}`);
  // Only the record after the write is shown.
  const held = rules.map((rule, index) => `${isAfter} and (${rule}) is true as ${names[index]}`);
  const matching = conditions.map((one) => selectPairs(one, held)).join(' union all ');
  const key = ['n', 'is_after', ...names].map((name) => `s.${name}`).join(', ');
  return `, grouped as materialized (
  select ${key}, ${joined('s.c')} as callers from (${matching}) s group by ${key}
)
select ${head}, g.callers, ${text} as json
from grouped g join event on ${eventNumber} = g.n and ${isAfter} = g.is_after ${from}`;
}

/** For records that may look different to each caller. */
function composeForEach(conditions: readonly Condition[], { text, from }: Shown): string {
  return `, matched as materialized (
  ${conditions.map((one) => selectPairs(one)).join(' union all ')}
)
select m.n, false as "isAfter", ${joined('m.c')} as callers, null as json
from matched m where not m.is_after group by m.n
union all
select s.n, true, ${joined('s.c')}, s.json from (
  select m.n, m.c, ${text} as json
  from matched m join event on ${eventNumber} = m.n and ${isAfter} join ${callerAlias} on ${callerNumber} = m.c ${from}
  where m.is_after
) s group by s.n, s.json`;
}

/** Selects the matching rows and their callers; null for a row that does not depend on the caller. */
const selectMatching = (condition: Condition): string =>
  condition.reads
    ? selectPairs(condition)
    : `select ${eventNumber} as n, ${isAfter} as is_after, null::bigint as c from event where ${condition.sql}`;

/** The same for each caller, with more values (SQL) from both. */
const selectPairs = ({ sql }: Condition, more: readonly string[] = []): string =>
  `select ${[`${eventNumber} as n`, `${isAfter} as is_after`, `${callerNumber} as c`, ...more].join(', ')} from event, ${callerAlias} where ${sql}`;

const head = `${eventNumber} as n, ${isAfter} as "isAfter"`;

const joined = (number: string): string => `string_agg(${number}::text, ',')`;

/** Selects a row for each caller. */
function selectCallers(columns: CallerColumns<JudgeValues>, parameters: NamedParameters<JudgeValues>): string {
  const names = columns.types.map((_type, index) => columnName(index));
  const lists = columns.types.map((type, index) =>
    parameters.member('columns', columnName(index), `${isArray(type) ? 'text' : type}[]`),
  );
  return `select * from unnest(${lists.join(', ')}) with ordinality ${callerAlias}(${names.join(', ')}, "@c")`;
}

/** The name for a column of callers' values. */
export const columnName = (index: number): string => `v${index + 1}`;
