import { answerTooLarge, type Query } from '@recordbus/database';
import { inSlices } from '@recordbus/limits/time-slice';
import type { EventRows } from '@recordbus/query';
import { arrayText } from './array-text.ts';
import { isArray } from './caller-columns.ts';
import type { CompiledPlan } from './compile-plan.ts';
import type { DistinctCallers } from './distinct-callers.ts';
import { columnName, type JudgedRow } from './judge-sql.ts';
import type { ReadEvent } from './read-events.ts';

/** How many pairs, each an event and a caller, one statement may have; fewer if each may have its own JSON. */
const maxPairs = 250_000;
const maxPairsForEach = 10_000;
/** How many UTF-16 code units all JSON that one call returns may have. */
const maxShownUnits = 64 * 2 ** 20;

interface ReadDeps {
  /** Runs the statements that judge. */
  readonly read: Query;
  maxAnswerBytes(): number;
}

/** Runs the statement for these events, in parts if there are many callers. */
export async function readJudgedRows(
  deps: ReadDeps,
  { text, valuesFrom, columns, shownReads }: CompiledPlan,
  asked: readonly Asked[],
  { rows }: DistinctCallers,
): Promise<JudgedRow[]> {
  const shared = { ...rowsOf(asked), maxBytes: deps.maxAnswerBytes() };
  const found: JudgedRow[] = [];
  let units = 0;
  const width = Math.max(1, Math.floor((shownReads === 'anything' ? maxPairsForEach : maxPairs) / (2 * asked.length)));
  for (let from = 0; from === 0 || from < rows.length; from += width) {
    const part = rows.slice(from, from + width);
    const lists = columns.types.map((type, index): [string, string] => [
      columnName(index),
      arrayText(part.map((values) => (isArray(type) ? textOfList(values[index]) : values[index]))),
    ]);
    const read = await deps.read<JudgedRow>({ text, values: valuesFrom({ ...shared, columns: new Map(lists) }) });
    for await (const row of inSlices(read)) {
      units += row.json?.length ?? 0;
      if (units > maxShownUnits) throw answerTooLarge();
      if (from === 0) found.push(row);
      // Rows that do not depend on the caller are in every part.
      else if (row.callers !== null) found.push({ ...row, callers: shifted(row.callers, from) });
    }
  }
  return found;
}

/** An event in a group to judge. */
export interface Asked {
  readonly read: ReadEvent;
  /** The event's number in its group. */
  readonly n: number;
}

/** The event rows for a statement (see `selectEventRows`). */
export function rowsOf(asked: readonly Asked[]): EventRows {
  const given = asked.flatMap(({ read: { before, after }, n }) => [
    ...(before === undefined ? [] : [`[${n},false,${before}]`]),
    ...(after === undefined ? [] : [`[${n},true,${after}]`]),
  ]);
  return { given: `[${given.join(',')}]`, givenCount: given.length };
}

const textOfList = (value: unknown): string | null => (Array.isArray(value) ? arrayText(value) : null);

/** Converts a later part's numbers to numbers among all callers. */
const shifted = (numbers: string, by: number): string =>
  numbers
    .split(',')
    .map((number) => Number(number) + by)
    .join(',');
