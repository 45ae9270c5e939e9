import type { Query } from '@recordbus/database';
import type { IncomingEvent } from './read-message.ts';

/** SQL: whether the patterns of a webhook `w` match the name in `e.event` (webhooks §1.3). */
const isMatched = `exists (select from unnest(w.events) as pattern
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

/**
 * Creates events' deliveries in one statement: one for each webhook that was enabled when the event happened and has a
 * matching pattern (webhooks §1.3). Repeating it with the same events adds nothing. Returns how many deliveries are
 * new.
 */
export async function fanOut(query: Query, events: readonly IncomingEvent[]): Promise<number> {
  const rows = await query<{ made: number }>({
    name: 'fan-out',
    text: `with incoming as (
        select distinct on (id) *
        from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
            $9::text[], $10::text[])
          as i (id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id, request_id)
        order by id
      ), matching as (
        select e.event, w.id as webhook_id, w.active
        from (select distinct event from incoming) as e
        join system.webhooks w on ${isMatched}
      ), wanted as (
        select i.id, i.occurred_at, i.event, m.webhook_id
        from incoming i join matching m on m.event = i.event and m.active @> i.occurred_at
      ), stored as (
        insert into system.events (id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id,
          request_id)
        select id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id, request_id
        from incoming i where exists (select from wanted where wanted.id = i.id)
        on conflict (id, occurred_at) do nothing
      ), made as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
        select system.delivery_id(id, webhook_id, occurred_at), occurred_at, id, webhook_id, event, 'pending'
        from wanted order by 1
        on conflict (id, occurred_at) do nothing
        returning id, occurred_at, event_id, webhook_id
      ), queued as (
        insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
        select id, occurred_at, event_id, webhook_id from made
      )
      select count(*) as made from made`,
    values: [
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
    ],
  });
  return rows[0]?.made ?? 0;
}

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
