import type { Query } from '@recordbus/database';
import type { IncomingEvent } from './read-message.ts';

/** SQL: whether a webhook `w` without an owner has a pattern that matches the name in `e.event` (webhooks §1.3). */
export const isMatched = `w.owner_collection is null and exists (select from unnest(w.events) as pattern
          where pattern = '*' or pattern = e.event
            or (right(pattern, 2) = '.*' and starts_with(e.event, left(pattern, -1))))`;

/** Whether a webhook, enabled or not, has a pattern that matches one of the names. */
export async function isAnyMatched(query: Query, names: readonly string[]): Promise<boolean> {
  const [row] = await query<{ isAnyMatched: boolean }>({
    name: 'fan-out.is-any-matched',
    text: `select exists (
        select from unnest($1::text[]) as e (event) join system.webhooks w on ${isMatched}
      ) as "isAnyMatched"`,
    values: [names],
  });
  return row?.isAnyMatched === true;
}

/** What a fan-out did. */
interface FannedOut {
  /** How many deliveries are new. */
  readonly made: number;
  /** The webhooks with a filter whose patterns match some of the events; null for none. */
  readonly filtered: readonly string[] | null;
  /** The ordered webhooks that match some of the events; null for none. */
  readonly ordered: readonly OrderedMatch[] | null;
}

/** An ordered webhook whose patterns match an event's name (webhooks §2.10). */
export interface OrderedMatch {
  readonly webhookId: string;
  readonly event: string;
  readonly isFiltered: boolean;
}

/** An event that a webhook's filter lets pass. */
export interface Passed {
  readonly eventId: string;
  readonly webhookId: string;
}

/**
 * Creates events' deliveries in one statement: one for each webhook without a filter or order that was enabled when the event
 * happened and has a matching pattern (webhooks §1.3). Repeating it with the same events adds nothing.
 */
export async function fanOut(query: Query, events: readonly IncomingEvent[]): Promise<FannedOut> {
  const [row] = await query<FannedOut>({
    name: 'fan-out',
    text: `with ${incoming}, matching as (
        select e.event, w.id as webhook_id, w.active, w.filter is not null as is_filtered,
          w.ordering <> 'none' as is_ordered
        from (select distinct event from incoming) as e
        join system.webhooks w on ${isMatched}
      ), wanted as (
        select i.id, i.occurred_at, i.event, m.webhook_id
        from incoming i join matching m on m.event = i.event and m.active @> i.occurred_at
          and not m.is_filtered and not m.is_ordered
      ), ${makeWanted}
      select (select count(*) from made) as made, (
          select array_agg(distinct webhook_id) from matching where is_filtered
        ) as filtered, (
          select json_agg(json_build_object('webhookId', webhook_id, 'event', event, 'isFiltered', is_filtered))
          from matching where is_ordered
        ) as ordered`,
    values: valuesOf(events),
  });
  return row ?? { made: 0, filtered: null, ordered: null };
}

/**
 * Creates the deliveries of events that passed webhooks' filters, as `fanOut` does for the others. Returns how many
 * are new. `evenInactive` creates them also for a webhook that was not enabled when the event happened.
 */
export async function fanOutPassed(
  query: Query,
  events: readonly IncomingEvent[],
  passed: readonly Passed[],
  { evenInactive = false } = {},
): Promise<number> {
  const [row] = await query<{ made: number }>({
    name: 'fan-out.passed',
    text: `with ${incoming}, wanted as (
        select i.id, i.occurred_at, i.event, w.id as webhook_id
        from incoming i join unnest($11::uuid[], $12::text[]) as p (event_id, webhook_id) on p.event_id = i.id
        join system.webhooks w on w.id = p.webhook_id and ($13::boolean or w.active @> i.occurred_at)
      ), ${makeWanted}
      select count(*) as made from made`,
    values: [
      ...valuesOf(events),
      passed.map(({ eventId }) => eventId),
      passed.map(({ webhookId }) => webhookId),
      evenInactive,
    ],
  });
  return row?.made ?? 0;
}

/** Finds the events that the webhook's patterns match and that no delivery to it was made of. Returns their ids. */
export async function findUndelivered(
  query: Query,
  webhookId: string,
  events: readonly IncomingEvent[],
): Promise<string[]> {
  const rows = await query<{ id: string }>({
    name: 'replay.undelivered',
    text: `select e.id from unnest($2::uuid[], $3::timestamptz[], $4::text[]) as e (id, occurred_at, event)
      join system.webhooks w on w.id = $1 and ${isMatched}
      where not exists (
        select from system.deliveries d
        where d.occurred_at = e.occurred_at and d.event_id = e.id and d.webhook_id = w.id
      )`,
    values: [
      webhookId,
      events.map(({ id }) => id),
      events.map(({ occurredAt }) => occurredAt),
      events.map(({ event }) => event),
    ],
  });
  return rows.map(({ id }) => id);
}

/** The events, each once. */
export const incoming = `incoming as (
        select distinct on (id) *
        from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
            $9::text[], $10::text[])
          as i (id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id, request_id)
        order by id
      )`;

/** Stores the events in `wanted`. */
export const storeWanted = `stored as (
        insert into system.events (id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id,
          request_id)
        select id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id, request_id
        from incoming i where exists (select from wanted where wanted.id = i.id)
        on conflict (id, occurred_at) do nothing
      )`;

/** Stores the events in `wanted`, and their deliveries. */
const makeWanted = `${storeWanted}, made as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
        select system.delivery_id(id, webhook_id, occurred_at), occurred_at, id, webhook_id, event, 'pending'
        from wanted order by 1
        on conflict (id, occurred_at) do nothing
        returning id, occurred_at, event_id, webhook_id
      ), queued as (
        insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
        select id, occurred_at, event_id, webhook_id from made
      )`;

/** The values of `incoming`. */
export const valuesOf = (events: readonly IncomingEvent[]): unknown[] => [
  events.map(({ id }) => id),
  events.map(({ occurredAt }) => occurredAt),
  events.map(({ event }) => event),
  events.map(({ traceparent }) => traceparent),
  events.map(({ body }) => body),
  events.map(({ recordId }) => recordId),
  events.map(({ received }) => received.envelope.version),
  events.map(({ received }) => textOf(received.envelope.actor.type)),
  events.map(({ received }) => textOf(received.envelope.actor.id)),
  events.map(({ received }) => textOf(received.envelope.request_id)),
];

/** PostgreSQL stores no NUL characters, and a client may choose any text as request id. */
const textOf = (text: string | null): string | null => text?.replaceAll('\0', '\ufffd') ?? null;

/** Stores a message that is not an event, for operators to inspect. */
export async function parkMessage(
  query: Query,
  message: { readonly seq: number; readonly subject: string; readonly data: Uint8Array },
  error: string,
): Promise<void> {
  await query({
    text: 'insert into system.parked_messages (stream_sequence, subject, body, error) values ($1, $2, $3, $4)',
    values: [message.seq, message.subject, Buffer.from(message.data), error.replaceAll('\0', '\ufffd')],
  });
}
