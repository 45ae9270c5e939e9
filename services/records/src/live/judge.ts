import { isDatabaseError, type Query } from '@recordbus/database';
import { inSlices } from '@recordbus/limits/time-slice';
import type { Callers, EventVerdict, LiveEvent } from '@recordbus/live';
import type { FieldEncryption } from '@recordbus/schema';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import type { CandidatesStatement } from './candidates.ts';
import type { CompiledPlan } from './compile-plan.ts';
import { addCallers, type DistinctCallers, distinctCallers } from './distinct-callers.ts';
import { isKnown, type ReadEvent, readEvents } from './read-events.ts';
import { type Asked, readJudgedRows, rowsOf } from './read-judged-rows.ts';
import { answerFreely, createResult, verdictOf } from './verdict-results.ts';

/** What judging depends on. */
export interface JudgeDeps {
  /** Runs the statements that judge. */
  readonly read: Query;
  /** Reads what messages leave out: large events and encrypted values. */
  readonly readSystem: Query;
  readonly encryption: FieldEncryption;
  maxAnswerBytes(): number;
}

/** How many UTF-16 code units one statement's records may have. */
const maxUnits = 4 * 2 ** 20;

type CallerValues = readonly (readonly unknown[])[];

/** Judges events for callers. Throws the database's errors, and 422 for an answer that is too large. */
export async function judgeEvents(
  deps: JudgeDeps,
  plan: CompiledPlan,
  events: readonly LiveEvent[],
  callers: CallerValues,
): Promise<EventVerdict[]> {
  const read = await readEvents(deps, plan, events);
  const distinct = distinctCallers(plan.columns.count === 0 ? [] : callers);
  const verdicts: EventVerdict[] = [];
  for (const group of groupsOf(read.filter(isKnown))) verdicts.push(...(await judgeGroup(deps, plan, group, distinct)));
  const judged = verdicts.values();
  return read.map((one) => (isKnown(one) ? (judged.next().value ?? lost) : lost));
}

/** Finds which accounts events may concern, by id; undefined if they may concern everyone. */
export async function findCandidates(
  deps: JudgeDeps,
  plan: CompiledPlan,
  events: readonly LiveEvent[],
): Promise<readonly string[] | undefined> {
  const { candidates } = plan;
  if (!candidates) return undefined;
  const ids = new Set<string>();
  try {
    const read = await readEvents(deps, plan, events);
    // All who follow them must learn that they are lost.
    if (!read.every(isKnown)) return undefined;
    for (const group of groupsOf(read.filter(isKnown))) {
      const asked = group.map((read, n) => ({ read, n }));
      const found = await readCandidates(deps, candidates, asked);
      if (found.isEveryone) return undefined;
      for (const id of found.ids) ids.add(id);
    }
  } catch (error) {
    // Judging finds out which event does not match the schema.
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
 * Judges a group. If a value makes the statement fail, each event is judged alone. An event that fails alone matches for
 * nobody, since no get could read its record.
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
    if (group.length === 1 && only) return [nobody];
    const verdicts: EventVerdict[] = [];
    for (const event of group) verdicts.push(...(await judgeGroup(deps, plan, [event], callers)));
    return verdicts;
  }
}

/** Whether a statement failed because of a value. */
const isDataError = (error: unknown): boolean => isDatabaseError(error) && /^(21|22)/.test(error.code ?? '');

const nobody: EventVerdict = { before: [], now: [], records: [] };
const lost: EventVerdict = { ...nobody, isLost: true };

async function judgeOnce(
  deps: JudgeDeps,
  plan: CompiledPlan,
  group: readonly ReadEvent[],
  callers: DistinctCallers,
): Promise<EventVerdict[]> {
  const results = group.map(() => createResult());
  const asked = group.map((read, n) => ({ read, n }));
  if (plan.conditions === undefined && plan.showsEvent) {
    for (const [n, result] of results.entries()) if (group[n]) answerFreely(group[n], result);
    return group.map((read, n) => verdictOf(plan, read, results[n] ?? createResult()));
  }
  const asking = await concernedCallers(deps, plan, asked, callers);
  for await (const row of inSlices(await readJudgedRows(deps, plan, asked, asking))) {
    const [read, result] = [group[row.n], results[row.n]];
    if (!read || !result) continue;
    const these: Callers = row.callers === null ? 'all' : asking.positionsOf(row.callers);
    if (!row.isAfter) result.before = addCallers(result.before, these);
    else {
      result.now = addCallers(result.now, these);
      const json = row.json === null ? (read.after ?? 'null') : await decrypted(deps, plan, row.json);
      result.records.set(json, addCallers(result.records.get(json) ?? [], these));
    }
  }
  return group.map((read, n) => verdictOf(plan, read, results[n] ?? createResult()));
}

/** With fewer callers a statement for the accounts that events concern costs more than it saves. */
const manyCallers = 200;

/**
 * The callers whom events may concern. For a rule over memberships, PostgreSQL would read all memberships. Starting
 * from the records, it reads only those of the accounts that they name.
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
  // The first of two conditions is for everyone. It needs no callers if it reads none and all see the same.
  const needsNone = conditions.length === 2 && conditions[0]?.reads === false && shownReads === 'nothing';
  const isForAll = isEveryone && !needsNone;
  return isForAll ? callers : callers.filter((values) => ids.has(String(values[place])));
}

async function decrypted({ encryption, maxAnswerBytes }: JudgeDeps, plan: CompiledPlan, json: string): Promise<string> {
  if (!plan.needsSealed && !plan.projection.expansions) return json;
  const body = await decryptAnswer(encryption, plan.projection, `${dataStart}${json}}`, maxAnswerBytes());
  return body.slice(dataStart.length, -1);
}

const dataStart = '{"data":';
