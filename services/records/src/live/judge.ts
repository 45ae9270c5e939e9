import { answerTooLarge, isDatabaseError, type Query } from '@recordbus/database';
import type { Callers, EventVerdict, LiveEvent } from '@recordbus/live';
import type { FieldEncryption } from '@recordbus/schema';
import { inSlices } from '@recordbus/shared/time-slice';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { selectedColumns } from '../shape/field-selection.ts';
import { arrayText } from './array-text.ts';
import { isArray } from './caller-columns.ts';
import type { CandidatesStatement } from './candidates.ts';
import type { CompiledPlan } from './compile-plan.ts';
import { addCallers, type DistinctCallers, distinctCallers } from './distinct-callers.ts';
import type { EventRows } from './event-rows.ts';
import { columnName, type JudgedRow } from './judge-sql.ts';
import { type ReadEvent, readEvents } from './read-events.ts';

/** What judging needs of the service. */
export interface JudgeDeps {
  /** Runs the statements that judge. */
  readonly read: Query;
  /** Reads large events. */
  readonly readSystem: Query;
  readonly encryption: FieldEncryption;
  maxAnswerBytes(): number;
}

/** Most pairs of an event and a caller in one statement; fewer where each may have a JSON of its own. */
const maxPairs = 250_000;
const maxPairsForEach = 10_000;
/** Most UTF-16 code units of all JSON that one call returns. */
const maxShownUnits = 64 * 2 ** 20;
/** Most UTF-16 code units of the records of one statement. */
const maxUnits = 4 * 2 ** 20;

type CallerValues = readonly (readonly unknown[])[];

/** Judges events for callers. Throws the errors of the database, and 422 for an answer that is too large. */
export async function judgeEvents(
  deps: JudgeDeps,
  plan: CompiledPlan,
  events: readonly LiveEvent[],
  callers: CallerValues,
): Promise<EventVerdict[]> {
  const read = await readEvents(deps.readSystem, plan, events);
  const distinct = distinctCallers(plan.columns.count === 0 ? [] : callers);
  const verdicts: EventVerdict[] = [];
  for (const group of groupsOf(read)) verdicts.push(...(await judgeGroup(deps, plan, group, distinct)));
  return verdicts;
}

/** Finds the ids of the accounts that events may concern; undefined where they may concern everybody. */
export async function findCandidates(
  deps: JudgeDeps,
  plan: CompiledPlan,
  events: readonly LiveEvent[],
): Promise<readonly string[] | undefined> {
  const { candidates } = plan;
  if (!candidates) return undefined;
  const ids = new Set<string>();
  try {
    for (const group of groupsOf(await readEvents(deps.readSystem, plan, events))) {
      const asked = group.map((read, n) => ({ read, n }));
      const found = await readCandidates(deps, candidates, asked);
      if (found.isEveryone) return undefined;
      for (const id of found.ids) ids.add(id);
    }
  } catch (error) {
    // Judging finds out which of the events does not fit the schema.
    if (isDataError(error)) return undefined;
    throw error;
  }
  return [...ids];
}

async function readCandidates(deps: JudgeDeps, { text, valuesFrom }: CandidatesStatement, asked: readonly Asked[]) {
  const rows = await deps.read<{ id: string | null }>({ text, values: valuesFrom(rowsOf(asked)) });
  const ids = new Set(rows.flatMap(({ id }) => id ?? []));
  return { ids, isEveryone: rows.some(({ id }) => id === null) };
}

/** Splits events into groups whose records are one statement. */
function* groupsOf(events: readonly ReadEvent[]): Generator<readonly ReadEvent[]> {
  let group: ReadEvent[] = [];
  let units = 0;
  for (const event of events) {
    const size = (event.before?.length ?? 0) + (event.after?.length ?? 0);
    if (group.length > 0 && units + size > maxUnits) {
      yield group;
      group = [];
      units = 0;
    }
    group.push(event);
    units += size;
  }
  if (group.length > 0) yield group;
}

/**
 * Judges a group. Where the data of an event do not fit, which one change of the schema after another may cause, each
 * event is judged alone, then by the stored record, and matches for nobody if that fails too, as then no get reads it.
 */
async function judgeGroup(
  deps: JudgeDeps,
  plan: CompiledPlan,
  group: readonly ReadEvent[],
  callers: DistinctCallers,
): Promise<EventVerdict[]> {
  try {
    return await judgeOnce(deps, plan, group, callers);
  } catch (error) {
    if (!isDataError(error)) throw error;
    const [only] = group;
    if (group.length === 1 && only) {
      if (only.before === undefined && only.after === undefined) return [nobody(only.event)];
      return judgeGroup(deps, plan, [{ ...only, before: undefined, after: undefined }], callers);
    }
    const verdicts: EventVerdict[] = [];
    for (const event of group) verdicts.push(...(await judgeGroup(deps, plan, [event], callers)));
    return verdicts;
  }
}

/** Whether a value does not fit a statement. */
const isDataError = (error: unknown): boolean => isDatabaseError(error) && /^(21|22)/.test(error.code ?? '');

const nobody = ({ version }: LiveEvent): EventVerdict => ({ before: [], now: [], records: [], version });

async function judgeOnce(
  deps: JudgeDeps,
  plan: CompiledPlan,
  group: readonly ReadEvent[],
  callers: DistinctCallers,
): Promise<EventVerdict[]> {
  const results = group.map(() => createResult());
  const asked = group.map((read, n) => ({ read, n }));
  const isFree = plan.conditions === undefined && plan.showsEvent;
  const rest = isFree ? asked.filter(({ read, n }) => !answerFreely(read, results[n])) : asked;
  const asking = await concernedCallers(deps, plan, rest, callers);
  for await (const row of inSlices(rest.length > 0 ? await askRows(deps, plan, rest, asking) : [])) {
    const [read, result] = [group[row.n], results[row.n]];
    if (!read || !result) continue;
    const these: Callers = row.callers === null ? 'all' : asking.positionsOf(row.callers);
    if (!row.isAfter) result.before = addCallers(result.before, these);
    else {
      result.now = addCallers(result.now, these);
      const json = row.json === null ? (read.after ?? 'null') : await decrypted(deps, plan, row.json);
      result.records.set(json, addCallers(result.records.get(json) ?? [], these));
      result.version = row.version ?? undefined;
    }
  }
  return group.map((read, n) => verdictOf(plan, read, results[n] ?? createResult()));
}

/** With fewer callers a statement for the accounts that events concern costs more than it saves. */
const manyCallers = 200;

/**
 * The callers whom events may concern. A rule over memberships would make PostgreSQL read all of them; led by the
 * records, it reads those of the accounts that are named.
 */
async function concernedCallers(
  deps: JudgeDeps,
  plan: CompiledPlan,
  asked: readonly Asked[],
  callers: DistinctCallers,
): Promise<DistinctCallers> {
  const { candidates, conditions = [], shownReads } = plan;
  const place = plan.columns.placeOfAccount();
  if (!candidates || place === undefined || asked.length === 0 || callers.rows.length < manyCallers) return callers;
  const { ids, isEveryone } = await readCandidates(deps, candidates, asked);
  // Of two conditions the first is for everybody: it needs no callers if it reads none, and if all see the same.
  const needsNone = conditions.length === 2 && conditions[0]?.reads === false && shownReads === 'nothing';
  const isForAll = isEveryone && !needsNone;
  return isForAll ? callers : callers.only((values) => ids.has(String(values[place])));
}

interface Result {
  before: number[] | 'all';
  now: number[] | 'all';
  /** The callers who are shown a JSON. */
  readonly records: Map<string, number[] | 'all'>;
  version: string | undefined;
}

const createResult = (): Result => ({ before: [], now: [], records: new Map(), version: undefined });

/** Answers where everybody sees the record of the event. Returns false where the stored record is needed. */
function answerFreely({ event, before, after }: ReadEvent, result: Result | undefined): boolean {
  if (!result || (after === undefined && event.verb !== 'delete')) return false;
  if (before !== undefined) result.before = 'all';
  if (after !== undefined) {
    result.now = 'all';
    result.records.set(after, 'all');
  }
  return true;
}

function verdictOf(plan: CompiledPlan, { event, changed }: ReadEvent, result: Result): EventVerdict {
  const { before, now, records, version } = result;
  return {
    before,
    now,
    records: [...records].map(([json, callers]) => ({
      callers,
      json,
      ...(event.verb === 'update' && { changed: shownNames(plan, changed, json) }),
    })),
    version: version ?? event.version,
  };
}

/** The names of the fields that the record shows to these callers. */
function shownNames({ collection, projection }: CompiledPlan, changed: readonly string[], json: string) {
  const { selection, view } = projection;
  const shown = new Set(selectedColumns(collection, selection, view).map(({ name }) => name));
  const names = changed.filter((name) => shown.has(name));
  if (!names.some((name) => view.conditional.has(name))) return names;
  const record: unknown = JSON.parse(json);
  return names.filter((name) => typeof record === 'object' && record !== null && Object.hasOwn(record, name));
}

async function decrypted({ encryption, maxAnswerBytes }: JudgeDeps, plan: CompiledPlan, json: string): Promise<string> {
  if (!plan.needsStored && !plan.projection.expansions) return json;
  const body = await decryptAnswer(encryption, plan.projection, `${dataStart}${json}}`, maxAnswerBytes());
  return body.slice(dataStart.length, -1);
}

const dataStart = '{"data":';

/** Runs the statement for these events, in parts if there are many callers. */
async function askRows(
  deps: JudgeDeps,
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
      // What does not depend on the caller is in every part.
      else if (row.callers !== null) found.push({ ...row, callers: shifted(row.callers, from) });
    }
  }
  return found;
}

interface Asked {
  readonly read: ReadEvent;
  /** The number of the event in its group. */
  readonly n: number;
}

/** The rows of events, as a statement takes them (see `selectEventRows`). */
function rowsOf(asked: readonly Asked[]): EventRows {
  const given = asked.flatMap(({ read: { before, after }, n }) => [
    ...(before === undefined ? [] : [`[${n},false,${before}]`]),
    ...(after === undefined ? [] : [`[${n},true,${after}]`]),
  ]);
  const stored = asked.flatMap(({ read: { event, id, after }, n }) =>
    after === undefined && event.verb !== 'delete' && id !== undefined ? [[n, id]] : [],
  );
  return {
    given: `[${given.join(',')}]`,
    givenCount: given.length,
    stored: JSON.stringify(stored),
    storedCount: stored.length,
  };
}

const textOfList = (value: unknown): string | null => (Array.isArray(value) ? arrayText(value) : null);

/** The numbers of a later part as those of all callers. */
const shifted = (numbers: string, by: number): string =>
  numbers
    .split(',')
    .map((number) => Number(number) + by)
    .join(',');
