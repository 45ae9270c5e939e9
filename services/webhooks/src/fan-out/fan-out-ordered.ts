import type { Query } from '@recordbus/database';
import { incoming, type OrderedMatch, type Passed, storeWanted, valuesOf } from './fan-out.ts';
import type { IncomingEvent } from './read-message.ts';

/** Parts the deliveries to make: those for ordered webhooks, with the ones that no filter judges, and the others. */
export function partOrdered(
  events: readonly IncomingEvent[],
  ordered: readonly OrderedMatch[],
  passed: readonly Passed[],
): { readonly inLanes: readonly Passed[]; readonly free: readonly Passed[] } {
  const ids = new Set(ordered.map(({ webhookId }) => webhookId));
  const unfiltered = ordered
    .filter(({ isFiltered }) => !isFiltered)
    .flatMap(({ webhookId, event: name }) =>
      events.filter(({ event }) => event === name).map(({ id }) => ({ eventId: id, webhookId })),
    );
  return {
    inLanes: [...unfiltered, ...passed.filter(({ webhookId }) => ids.has(webhookId))],
    free: passed.filter(({ webhookId }) => !ids.has(webhookId)),
  };
}

/**
 * Creates ordered webhooks' deliveries and puts them into their lanes (webhooks §2.10). `life` is the stream's. Returns how many
 * are new. Repeating it adds nothing. `evenInactive` creates them also for a webhook that was not enabled when the event
 * happened.
 */
export async function fanOutOrdered(
  query: Query,
  events: readonly IncomingEvent[],
  passed: readonly Passed[],
  { life, evenInactive = false }: { readonly life: number; readonly evenInactive?: boolean },
): Promise<number> {
  if (passed.length === 0) return 0;
  const [row] = await query<{ made: number }>({
    name: 'fan-out.ordered',
    text: `with ${incoming}, place as (
        select * from unnest($1::uuid[], $14::bigint[], $15::bigint[]) as p (id, life, sequence)
      ), wanted as (
        select i.id, i.occurred_at, i.event, i.record_id, w.id as webhook_id, place.life, place.sequence
        from incoming i join unnest($11::uuid[], $12::text[]) as p (event_id, webhook_id) on p.event_id = i.id
        join (select id, max(life) as life, max(sequence) as sequence from place group by id) as place on place.id = i.id
        join system.webhooks w on w.id = p.webhook_id and ($13::boolean or w.active @> i.occurred_at)
      ), ${storeWanted}, made as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status, stream_life, stream_sequence)
        select system.delivery_id(id, webhook_id, occurred_at), occurred_at, id, webhook_id, event, 'pending', life, sequence
        from wanted order by 1
        on conflict (id, occurred_at) do nothing
        returning id, occurred_at, event_id, webhook_id, stream_life, stream_sequence
      ), ${putMadeInLanes('(select record_id from wanted where wanted.id = made.event_id limit 1)')}
      select count(*) as made from placed`,
    values: [
      ...valuesOf(events),
      passed.map(({ eventId }) => eventId),
      passed.map(({ webhookId }) => webhookId),
      evenInactive,
      events.map((event) => lifeOf(event, life)),
      events.map(({ sequence }) => sequence),
    ],
  });
  return row?.made ?? 0;
}

/** SQL: puts the deliveries in `made` into their lanes; `recordId` is one's record (SQL). Each has a row in `placed`. */
export const putMadeInLanes = (recordId: string): string => `placed as materialized (
        select system.put_in_lane(id, occurred_at, event_id, webhook_id, record_id, stream_life, stream_sequence) as put
        from (
          select made.*, ${recordId} as record_id from made
          order by webhook_id, coalesce(${recordId}, event_id::text) collate "C"
        ) as sorted
      )`;

/** Messages from before a life are older than all of it. They are ordered by their times. */
export const lifeOf = ({ storedAtMs }: IncomingEvent, life: number): number => Math.min(life, storedAtMs);
