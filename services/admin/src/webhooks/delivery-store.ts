import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import type { DeliveriesQuery } from './delivery-schema.ts';

const seconds = (column: string) => `floor(extract(epoch from ${column}))::bigint`;

/** SQL: when delivery `d` is due, if it waits. A delivery in a blocked lane has no time. */
export const nextAttempt = (convert: (column: string) => string): string => `coalesce(
    (select ${convert('q.next_attempt_at')} from system.delivery_queue q where q.delivery_id = d.id),
    (
      select ${convert('l.next_attempt_at')} from system.ordered_deliveries o join system.delivery_lanes l on l.id = o.lane_id
      where o.delivery_id = d.id and l.blocked_by is null
    )
  )`;

/** The payload is null once the webhook keeps it no longer, even before it is dropped (webhooks §2.9). */
const payload = `'payload', case when d.status = 'pending' or not coalesce(
    (select d.created_at < now() - make_interval(days => w.payload_days) from system.webhooks w where w.id = d.webhook_id), false
  ) then coalesce(d.body::json, (
    select e.body::json from system.events e where e.id = d.event_id and e.occurred_at = d.occurred_at
  )) end,`;

/** Who reads the log: admins, or those who manage an owner's webhooks. */
export type LogReader = 'admin' | 'manager';

const blocked = 'egress blocked: requests to this address are not allowed';

/**
 * SQL for an attempt's error. What a name resolves to, and which ranges are denied, is for admins only (webhooks §7.3). The
 * second pattern finds addresses in the texts of earlier versions.
 */
const shownError = (column: string, reader: LogReader): string =>
  reader === 'admin'
    ? column
    : `case when ${column} like 'egress blocked:%' then '${blocked}'
        when ${column} ~ '\\d+\\.\\d+\\.\\d+\\.\\d+|:[0-9a-f]*:' then 'request failed' else ${column} end`;

/** SQL for a delivery as JSON. The database writes it, so the payload's numbers keep their digits. */
const deliveryJson = (reader: LogReader, withPayload: boolean) => `json_build_object(
  'id', d.id, 'webhook_id', d.webhook_id, 'event_id', d.event_id, 'event', d.event, 'batch_id', d.batch_id,
  'status', d.status,
  'attempt', d.attempt, 'response_code', d.response_code, 'response_body', d.response_body,
  'error', ${shownError('d.error', reader)},
  ${withPayload ? payload : ''}
  'attempts', (
    select coalesce(json_agg(json_build_object(
      'at', ${seconds('a.at')}, 'response_code', a.response_code, 'duration_ms', a.duration_ms,
      'error', ${shownError('a.error', reader)}
    ) order by a.attempt), '[]')
    from system.delivery_attempts a where a.delivery_id = d.id and a.occurred_at = d.occurred_at
  ),
  'next_attempt_at', ${nextAttempt(seconds)},
  'created_at', ${seconds('d.created_at')}, 'updated_at', ${seconds('d.updated_at')},
  'completed_at', ${seconds('d.completed_at')}
)`;

/** Returns the whole answer with a webhook's deliveries, newest first, as JSON text. */
export async function listDeliveries(
  query: Query,
  reader: LogReader,
  webhookId: string,
  { page, perPage, status, event, skipTotal, skipPayload }: DeliveriesQuery,
): Promise<string> {
  const filter = `d.webhook_id = $1 and ($2::text is null or d.status = $2) and ($3::text is null or d.event = $3)`;
  const rows = await query<{ json: string }>({
    text: `select json_build_object(
        'data', (
          select coalesce(json_agg(${deliveryJson(reader, !skipPayload)} order by d.created_at desc, d.id desc), '[]') from (
            select * from system.deliveries d where ${filter}
            order by d.created_at desc, d.id desc limit $4 offset $5
          ) as d
        ),
        'page', $6::integer, 'perPage', $4::integer, 'totalItems', total,
        'totalPages', case when total < 0 then -1 else ceil(total / $4::numeric) end
      )::text as json
      from (${skipTotal ? 'select -1 as total' : `select count(*) as total from system.deliveries d where ${filter}`}) as counted`,
    values: [webhookId, status, event, perPage, (page - 1) * perPage, page],
  });
  return rows[0]?.json ?? '';
}

/** Returns the whole answer with one delivery as JSON text. Throws 404 when the webhook has no such delivery. */
export async function getDelivery(
  query: Query,
  reader: LogReader,
  webhookId: string,
  deliveryId: string,
): Promise<string> {
  const rows = await query<{ json: string }>({
    text: `select json_build_object('data', ${deliveryJson(reader, true)})::text as json
      from system.deliveries d where d.id = $2::uuid and d.webhook_id = $1`,
    values: [webhookId, requireUuid(deliveryId)],
  });
  if (!rows[0]) throw notFound('delivery');
  return rows[0].json;
}

/** Returns the id. Throws 404 for a text that is not a UUID. */
export function requireUuid(id: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw notFound('delivery');
  return id;
}
