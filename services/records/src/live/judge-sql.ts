import type { NamedParameters } from '@recordbus/query';
import type { CompileContext } from '../rules/compile-rule.ts';
import { limitedText } from '../shape/answer-limit.ts';
import { isOpenEnded, recordJson } from '../shape/record-json.ts';
import { type CallerColumns, callerAlias, callerNumber, isArray } from './caller-columns.ts';
import type { Judged, JudgeValues } from './compile-plan.ts';
import { eventAlias, eventNumber, isAfter, selectEventRows } from './event-rows.ts';

/** A row of the result: callers for whom a record matches, and maybe its JSON for them. */
export interface JudgedRow {
  /** The number of the event. */
  readonly n: number;
  readonly isAfter: boolean;
  /** The version of a stored record. */
  readonly version: string | null;
  /** The numbers of the callers, separated by commas; null where they do not matter. */
  readonly callers: string | null;
  readonly json: string | null;
}

interface JudgeParts {
  readonly parameters: NamedParameters<JudgeValues>;
  readonly columns: CallerColumns<JudgeValues>;
  readonly conditionReads: boolean;
  readonly context: CompileContext;
}

/**
 * Composes the statement that judges events. It has the rows of all events and, if values of callers are read, a row for
 * each caller, so one statement decides for all of them.
 */
export function composeJudge(judged: Judged, parts: JudgeParts): { text: string; projectionReads: boolean } {
  const { parameters, columns, conditionReads, context } = parts;
  const { collection, condition, projection, showsEvent } = judged;
  const readBefore = columns.reads;
  const place = { parameters: columns.ofRule, ...context };
  const { from, text: json } = recordJson(projection, eventAlias, place, { isTable: false });
  const projectionReads = columns.reads > readBefore;
  const isLimited = projection.expansions !== undefined || isOpenEnded(collection);
  const limited = isLimited ? limitedText(json, parameters.named('maxBytes', 'bigint')) : json;
  // The text of an event is there already; only what is read from the table has to be written.
  const shown = `case when ${showsEvent ? `${eventAlias}."@version" is not null` : isAfter} then ${limited} end`;
  const given = parameters.named('given', 'json');
  const stored = parameters.named('stored', 'json');
  const rows = `event as materialized (\n  ${selectEventRows(collection, { given, stored })}\n)`;
  const where = condition === undefined ? '' : ` where ${condition}`;
  if (columns.count === 0)
    return {
      text: `with ${rows}
select ${head}, null::text as callers, ${shown} as json from event ${from}${where}`,
      projectionReads,
    };
  const callers = `caller as materialized (\n  ${selectCallers(columns, parameters)}\n)`;
  const items = conditionReads ? 'event, caller' : 'event';
  if (!projectionReads)
    return {
      text: `with ${rows}, ${callers}, matched as materialized (
  select ${eventNumber} as n, ${isAfter} as is_after, ${joined(callerNumber)} as callers from ${items}${where} group by 1, 2
)
select ${head}, m.callers, ${shown} as json
from matched m join event on ${eventNumber} = m.n and ${isAfter} = m.is_after ${from}`,
      projectionReads,
    };
  const number = conditionReads ? callerNumber : 'null::bigint';
  const matching = conditionReads ? `${callerNumber} = m.c` : 'true';
  return {
    text: `with ${rows}, ${callers}, matched as materialized (
  select ${eventNumber} as n, ${isAfter} as is_after, ${number} as c from ${items}${where}
)
select m.n, false as "isAfter", null as version, ${joined('m.c')} as callers, null as json
from matched m where not m.is_after group by m.n
union all
select s.n, true, s.version, ${joined('s.c')}, s.json from (
  select m.n, ${callerNumber} as c, ${eventAlias}."@version" as version, ${shown} as json
  from matched m join event on ${eventNumber} = m.n and ${isAfter} join caller on ${matching} ${from}
  where m.is_after
) s group by s.n, s.version, s.json`,
    projectionReads,
  };
}

const head = `${eventNumber} as n, ${isAfter} as "isAfter", ${eventAlias}."@version" as version`;

const joined = (number: string): string => `string_agg(${number}::text, ',')`;

/** A select of a row for each caller. */
function selectCallers(columns: CallerColumns<JudgeValues>, parameters: NamedParameters<JudgeValues>): string {
  const names = columns.types.map((_type, index) => columnName(index));
  const lists = columns.types.map((type, index) =>
    parameters.member('columns', columnName(index), `${isArray(type) ? 'text' : type}[]`),
  );
  return `select * from unnest(${lists.join(', ')}) with ordinality ${callerAlias}(${names.join(', ')}, "@c")`;
}

/** The name of a column of callers. */
export const columnName = (index: number): string => `v${index + 1}`;
