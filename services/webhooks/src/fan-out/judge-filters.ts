import { cutMembers } from '@recordbus/bus';
import { isDatabaseError, type Query } from '@recordbus/database';
import { createNamedParameters, type EventRows, selectEventRows } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { Passed } from './fan-out.ts';
import { type BatchFilters, type FilterPlan, type PlanGroup, rows } from './filter-plans.ts';
import type { IncomingEvent } from './read-message.ts';

/** The most plans in one statement. */
const maxPlans = 50;

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
    const groups = filters.groupsFor(collection);
    for (let from = 0; from < groups.length; from += maxPlans)
      passed.push(...(await judge(query, collection, ofCollection, groups.slice(from, from + maxPlans))));
  }
  return passed;
}

/**
 * Judges events. If a value makes the statement fail, each event and plan is judged alone; an event that fails alone does
 * not pass.
 */
export async function judge(
  query: Query,
  collection: Collection | undefined,
  events: readonly IncomingEvent[],
  groups: readonly PlanGroup[],
): Promise<Passed[]> {
  try {
    return await judgeOnce(query, collection, events, groups);
  } catch (error) {
    if (!isDatabaseError(error) || !/^(21|22)/.test(error.code ?? '')) throw error;
    if (events.length === 1 && groups.length === 1) return [];
    const passed: Passed[] = [];
    for (const event of events)
      for (const group of groups) passed.push(...(await judge(query, collection, [event], [group])));
    return passed;
  }
}

interface JudgeValues extends EventRows {
  /** JSON texts of lists: the events' facts, and each plan's webhooks. */
  readonly facts: string;
  readonly hooks: ReadonlyMap<string, string>;
}

async function judgeOnce(
  query: Query,
  collection: Collection | undefined,
  events: readonly IncomingEvent[],
  groups: readonly PlanGroup[],
): Promise<Passed[]> {
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
  const selects = groups.map(
    ({ plan }, index) => `select ${facts}.id as "eventId", ${hook}.id as "webhookId"
      from ${facts} join ${hooksOf(plan, index)} on ${hook}.event = ${facts}.event${joined} where ${plan.sql}`,
  );
  const text = `with ${states}${facts} as materialized (
      select * from json_to_recordset(${parameters.named('facts', 'json')})
        as f (n integer, id uuid, event text, actor_type text, actor_id text, changed jsonb)
    )
    ${selects.join(' union all ')}`;
  const read = events.map(readData);
  const given = read.flatMap(({ record: after, previous: before }, n) => [
    ...(before === undefined ? [] : [`[${n},false,${before}]`]),
    ...(after === undefined ? [] : [`[${n},true,${after}]`]),
  ]);
  const hooks = groups.map(({ webhooks }, index): [string, string] => [String(index), hooksJson(webhooks)]);
  return query<Passed>({
    text,
    values: parameters.valuesFrom({
      given: `[${given.join(',')}]`,
      givenCount: given.length,
      facts: `[${events.map((event, n) => factsJson(event, n, read[n]?.changed)).join(',')}]`,
      hooks: new Map(hooks),
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
    .flatMap(({ id, events, values }) => {
      const literals = values.map((value, index) => `,"v${index + 1}":${value}`).join('');
      return events.map((event) => `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)}${literals}}`);
    })
    .join(',')}]`;
