import { cutMembers } from '@recordbus/bus';
import { isDatabaseError, type Query } from '@recordbus/database';
import { createNamedParameters, type EventRows, selectEventRows } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { Passed } from './fan-out.ts';
import { type BatchFilters, type FilterPlan, type PlanGroup, rows } from './filter-plans.ts';
import type { IncomingEvent } from './read-message.ts';

/** The most plans in one statement. */
const maxPlans = 50;

/** Event ids, by the webhook whose filter judges them. */
export type Pairs = ReadonlyMap<string, ReadonlySet<string>>;

/** Finds which events pass which webhooks' filters (webhooks §1.7): one statement for each collection. */
export async function judgeFilters(
  query: Query,
  filters: BatchFilters,
  events: readonly IncomingEvent[],
): Promise<Passed[]> {
  const passed: Passed[] = [];
  const byCollection = Map.groupBy(events, ({ received }) => received.envelope.collection);
  for (const [name, ofCollection] of byCollection) {
    const collection = name === undefined ? undefined : filters.findCollection(name);
    passed.push(...(await judgeGroups(query, collection, ofCollection, filters.groupsFor(collection))));
  }
  return passed;
}

/** Judges one collection's events: by the webhooks whose patterns match their names, or in the given pairs only. */
export async function judgeGroups(
  query: Query,
  collection: Collection | undefined,
  events: readonly IncomingEvent[],
  groups: readonly PlanGroup[],
  pairs?: Pairs,
): Promise<Passed[]> {
  const passed: Passed[] = [];
  for (let from = 0; from < groups.length; from += maxPlans)
    passed.push(...(await judge(query, { collection, events, groups: groups.slice(from, from + maxPlans), pairs })));
  return passed;
}

interface Judged {
  readonly collection: Collection | undefined;
  readonly events: readonly IncomingEvent[];
  readonly groups: readonly PlanGroup[];
  readonly pairs: Pairs | undefined;
}

/**
 * Judges events. If a value makes the statement fail, each event and plan is judged alone; an event that fails alone does
 * not pass.
 */
async function judge(query: Query, judged: Judged): Promise<Passed[]> {
  const { events, groups } = judged;
  try {
    return await judgeOnce(query, judged);
  } catch (error) {
    if (!isDatabaseError(error) || !/^(21|22)/.test(error.code ?? '')) throw error;
    if (events.length === 1 && groups.length === 1) return [];
    const passed: Passed[] = [];
    for (const event of events)
      for (const group of groups) passed.push(...(await judge(query, { ...judged, events: [event], groups: [group] })));
    return passed;
  }
}

interface JudgeValues extends EventRows {
  /** JSON texts of lists: the events' facts, and each plan's webhooks. */
  readonly facts: string;
  readonly hooks: ReadonlyMap<string, string>;
  /** Which webhook judges which event. */
  readonly pairs: string;
}

async function judgeOnce(query: Query, { collection, events, groups, pairs }: Judged): Promise<Passed[]> {
  const parameters = createNamedParameters<JudgeValues>();
  const { facts, record, previous, hook } = rows;
  const states = collection ? `state as materialized (${selectEventRows(collection, parameters)}), ` : '';
  const joined = collection
    ? ` left join state ${record} on ${record}."@n" = ${facts}.n and ${record}."@after"
      left join state ${previous} on ${previous}."@n" = ${facts}.n and not ${previous}."@after"`
    : '';
  const hooksOf = ({ types }: FilterPlan, index: number): string =>
    `json_to_recordset(${parameters.member('hooks', String(index), 'json')})
        as ${hook} (id text, event text${types.map((type, at) => `, v${at + 1} ${type}`).join('')})`;
  const fromPairs = (hooks: string): string =>
    pairs
      ? `${hooks} join pair on pair.id = ${hook}.id join ${facts} on ${facts}.n = pair.n`
      : `${facts} join ${hooks} on ${hook}.event = ${facts}.event`;
  const selects = groups.map(
    ({ plan }, index) => `select ${facts}.id as "eventId", ${hook}.id as "webhookId"
      from ${fromPairs(hooksOf(plan, index))}${joined} where ${plan.sql}`,
  );
  const paired = pairs
    ? `pair as materialized (
      select * from json_to_recordset(${parameters.named('pairs', 'json')}) as p (id text, n integer)
    ), `
    : '';
  const text = `with ${states}${paired}${facts} as materialized (
      select * from json_to_recordset(${parameters.named('facts', 'json')})
        as f (n integer, id uuid, event text, actor_type text, actor_id text, changed jsonb)
    )
    ${selects.join(' union all ')}`;
  const read = events.map(readData);
  const given = read.flatMap(({ record: after, previous: before }, n) => [
    ...(before === undefined ? [] : [`[${n},false,${before}]`]),
    ...(after === undefined ? [] : [`[${n},true,${after}]`]),
  ]);
  const hooks = groups.map(({ webhooks }, index): [string, string] => [
    String(index),
    pairs ? pairedHooksJson(webhooks) : hooksJson(webhooks),
  ]);
  return query<Passed>({
    text,
    values: parameters.valuesFrom({
      given: `[${given.join(',')}]`,
      givenCount: given.length,
      facts: `[${events.map((event, n) => factsJson(event, n, read[n]?.changed)).join(',')}]`,
      hooks: new Map(hooks),
      pairs: pairs ? pairsJson(groups, events, pairs) : '[]',
    }),
  });
}

/** An event's record, as JSON texts. */
interface RecordTexts {
  readonly record: string | undefined;
  readonly previous: string | undefined;
  readonly changed: string | undefined;
}

function readData({ received }: IncomingEvent): RecordTexts {
  const data = cutMembers(received.text).get('data');
  const parts = received.envelope.collection !== undefined && data?.startsWith('{') ? cutMembers(data) : undefined;
  return { record: parts?.get('record'), previous: parts?.get('previous'), changed: parts?.get('changed') };
}

function factsJson({ id, event, received }: IncomingEvent, n: number, changed = '[]'): string {
  const { actor } = received.envelope;
  const plain = JSON.stringify({ n, id, event, actor_type: actor.type, actor_id: actor.id });
  return `${plain.slice(0, -1)},"changed":${changed}}`;
}

/** A row for each webhook and event name. */
const hooksJson = (webhooks: PlanGroup['webhooks']): string =>
  `[${webhooks
    .flatMap(({ id, events, values }) =>
      events.map((event) => `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)}${literalsOf(values)}}`),
    )
    .join(',')}]`;

/** A row for each webhook: its literals may be long, so they are not repeated for each event. */
const pairedHooksJson = (webhooks: PlanGroup['webhooks']): string =>
  `[${webhooks.map(({ id, values }) => `{"id":${JSON.stringify(id)}${literalsOf(values)}}`).join(',')}]`;

const literalsOf = (values: readonly string[]): string =>
  values.map((value, index) => `,"v${index + 1}":${value}`).join('');

function pairsJson(groups: readonly PlanGroup[], events: readonly IncomingEvent[], pairs: Pairs): string {
  const numbers = new Map(events.map(({ id }, n) => [id, n]));
  const rows = groups.flatMap(({ webhooks }) =>
    webhooks.flatMap(({ id }) =>
      [...(pairs.get(id) ?? [])].flatMap((event) => {
        const n = numbers.get(event);
        return n === undefined ? [] : [{ id, n }];
      }),
    ),
  );
  return JSON.stringify(rows);
}
