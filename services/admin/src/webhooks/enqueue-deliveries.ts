import { isDatabaseError, newId, type Query, sqlState } from '@recordbus/database';
import { conflict, notFound } from '@recordbus/errors';
import type { ReplayRequest } from './delivery-schema.ts';
import { requireUuid } from './delivery-store.ts';
import { replaceBlocking } from './unblock.ts';
import type { Webhook } from './webhook-schema.ts';

const testEvent = 'webhooks.test';

/** SQL that creates deliveries to webhook $1 from the rows (event_id, occurred_at, event, body, collection_id) of a CTE `source`. */
const enqueueSource = `made as (
    insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status, body, collection_id)
    select system.new_id(), occurred_at, event_id, $1, event, 'pending', body, collection_id from source
    returning id, occurred_at, event_id, webhook_id
  ), queued as (
    insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
    select id, occurred_at, event_id, webhook_id from made
  )
  select id from made`;

/** SQL: the same for an ordered webhook, in its lanes. An event from before the order is older than those with a place. */
const enqueueInLanes = `made as (
    insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status, body, collection_id, stream_life,
      stream_sequence)
    select system.new_id(), occurred_at, event_id, $1, event, 'pending', body, collection_id, coalesce(stream_life, 0),
      coalesce(stream_sequence, floor(extract(epoch from occurred_at) * 1000000)::bigint)
    from source
    returning id, occurred_at, event_id, webhook_id, stream_life, stream_sequence
  ), placed as materialized (
    select system.put_in_lane(id, occurred_at, event_id, webhook_id, record_id, stream_life, stream_sequence) from (
      select made.*, e.record_id from made
      left join system.events e on e.id = made.event_id and e.occurred_at = made.occurred_at
      order by coalesce(e.record_id, made.event_id::text) collate "C"
    ) as sorted
  )
  select id from made, (select count(*) from placed) as placed`;

/** The columns of `source`. */
const sourceColumns = 'event_id, occurred_at, event, body, collection_id, stream_life, stream_sequence';

/**
 * Enqueues a synthetic event for one webhook, even if it is disabled or a delivery blocks it. Returns the delivery's id. Throws
 * 404.
 */
export async function enqueueTest(query: Query, { id, name }: Webhook): Promise<string> {
  const eventId = newId();
  const timestamp = Math.floor(Date.now() / 1000);
  const record = { id: eventId, test: true, webhook_id: id, webhook_name: name };
  const body = JSON.stringify({ id: eventId, event: testEvent, timestamp, data: { record } });
  await query({ text: `select system.ensure_event_day((now() at time zone 'UTC')::date)`, values: [] });
  const [deliveryId] = await enqueue(query, {
    text: `with source as (
        insert into system.events (id, occurred_at, event, body) values ($2, now(), '${testEvent}', $3)
        returning id as event_id, occurred_at, event, null::text as body, null::text as collection_id
      ), ${enqueueSource}`,
    values: [id, eventId, body],
  });
  if (!deliveryId) throw notFound('webhook');
  return deliveryId;
}

/**
 * Enqueues a delivery's event again. Returns the new delivery's id. Throws 404, and 409 for a payload that is no longer
 * kept.
 */
export async function redeliver(query: Query, webhookId: string, deliveryId: string): Promise<string> {
  const [kept] = await query<{ isKept: boolean; isOrdered: boolean }>({
    text: `select ${isKept} as "isKept", w.ordering <> 'none' as "isOrdered"
      from system.deliveries d join system.webhooks w on w.id = d.webhook_id where d.id = $2::uuid and d.webhook_id = $1`,
    values: [webhookId, requireUuid(deliveryId)],
  });
  if (kept && !kept.isKept) throw conflict('payload_dropped', "the delivery's payload is no longer kept");
  const [newDeliveryId] = await enqueue(query, {
    text: `with source as (
        select ${sourceColumns} from system.deliveries where id = $2::uuid and webhook_id = $1
      ), ${kept?.isOrdered ? enqueueInLanes : enqueueSource}`,
    values: [webhookId, requireUuid(deliveryId)],
  });
  if (!newDeliveryId) throw notFound('delivery');
  if (kept?.isOrdered) await replaceBlocking(query, webhookId);
  return newDeliveryId;
}

/** SQL: whether the payload of a delivery `d` has not been dropped (webhooks §2.9). */
const isKept = `not exists (
    select from system.events e where e.id = d.event_id and e.occurred_at = d.occurred_at and 'null' in (e.body, d.body)
  )`;

/** The deliveries that a replay may repeat. */
const replayed = `from system.deliveries d
  where ${isKept} and webhook_id = $1 and created_at >= to_timestamp($2) and ($4::bigint is null or created_at < to_timestamp($4 + 1))
    and case when $3::text is null then status <> 'pending' else status = $3 end`;

/**
 * Enqueues events again: those with a delivery to the webhook that was created from `since` to `until` and has the
 * given status, or has ended when no status is given. Returns how many.
 */
export async function replay(
  query: Query,
  { id: webhookId, ordering }: Webhook,
  wanted: ReplayRequest,
): Promise<number> {
  const isOrdered = ordering !== 'none';
  const ids = await enqueue(query, {
    text: `with source as (
        select distinct on (event_id) ${sourceColumns} ${replayed}
      ), ${isOrdered ? enqueueInLanes : enqueueSource}`,
    values: replayValues(webhookId, wanted),
  });
  if (isOrdered) await replaceBlocking(query, webhookId);
  return ids.length;
}

/** Returns how many events a replay would enqueue. */
export async function countReplay(query: Query, webhookId: string, wanted: ReplayRequest): Promise<number> {
  const [row] = await query<{ count: number }>({
    text: `select count(distinct event_id) as count ${replayed}`,
    values: replayValues(webhookId, wanted),
  });
  return row?.count ?? 0;
}

const replayValues = (webhookId: string, { since, status, until }: ReplayRequest): readonly unknown[] => [
  webhookId,
  since,
  status,
  until === undefined ? undefined : Math.floor(until),
];

/** Enqueues deliveries and returns their ids. Throws 404 when the webhook is deleted at the same time. */
async function enqueue(query: Query, statement: { text: string; values: readonly unknown[] }): Promise<string[]> {
  try {
    return (await query<{ id: string }>(statement)).map(({ id }) => id);
  } catch (error) {
    if (isDatabaseError(error, sqlState.foreignKeyViolation)) throw notFound('webhook');
    throw error;
  }
}
