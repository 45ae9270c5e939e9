import { newId, type Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import { hashOfKey } from './polled-events.ts';
import { type Owner, ownerColumn } from './webhook-owner.ts';
import type { NewWebhook, Webhook, WebhookChange } from './webhook-schema.ts';

const columns = `id, name, type, url, events, secret, headers, enabled, retry_max, retry_backoff, retry_delay_ms, timeout_ms,
  rate, ordering, on_failure, batch, filter, payload_days,
  ${ownerColumn},
  floor(extract(epoch from created_at))::bigint as created_at,
  floor(extract(epoch from updated_at))::bigint as updated_at`;
const fromNowOn = 'tstzmultirange(tstzrange(now(), null))';

/** SQL assignments that reset the failures and the pause when the condition holds. */
const resetHealthWhen = (condition: string) =>
  `failures = case when ${condition} then 0 else failures end,
  failing_since = case when not ${condition} then failing_since end,
  paused_until = case when not ${condition} then paused_until end`;

/** Returns a webhook. Throws 404. */
export async function getWebhook(query: Query, id: string): Promise<Webhook> {
  return onlyRow(await query<Webhook>({ text: `select ${columns} from system.webhooks where id = $1`, values: [id] }));
}

/** Returns a page of all or one owner's webhooks, newest first, and how many there are. */
export async function listWebhooks(
  query: Query,
  { page, perPage, owner }: { readonly page: number; readonly perPage: number; readonly owner?: Owner | undefined },
): Promise<{ rows: Webhook[]; totalItems: number }> {
  const where = owner ? 'where owner_collection = $1 and owner_id = $2' : '';
  const values = owner ? [owner.collection.id, owner.id] : [];
  const rows = await query<Webhook>({
    text: `select ${columns} from system.webhooks ${where} order by webhooks.created_at desc, id desc
      limit ${perPage} offset ${(page - 1) * perPage}`,
    values,
  });
  const [total] = await query<{ count: number }>({ text: `select count(*) from system.webhooks ${where}`, values });
  return { rows, totalItems: total?.count ?? 0 };
}

/** Returns all webhooks that schema files define: without an owner, and without a key. */
export const listAllWebhooks = (query: Query): Promise<Webhook[]> =>
  query<Webhook>({
    text: `select ${columns} from system.webhooks where owner_collection is null and type = 'http' order by id`,
    values: [],
  });

/** The members that say what is delivered and how. They are stored as they are given. */
export const deliveryMembers = [
  'url',
  'events',
  'retry_max',
  'retry_backoff',
  'retry_delay_ms',
  'timeout_ms',
  'rate',
  'ordering',
  'on_failure',
  'batch',
  'filter',
  'payload_days',
] as const;

/** The members that are stored as they are given. */
const plainMembers = ['name', 'secret', 'headers', ...deliveryMembers] as const;

/** Replaces the key with which a webhook's events are read. */
export async function setKey(query: Query, id: string, key: string): Promise<void> {
  await query({
    text: 'update system.webhooks set key_hash = $2, updated_at = now() where id = $1',
    values: [id, hashOfKey(key)],
  });
}

/** Creates a webhook. It gets events from now on, unless it is disabled. */
export async function createWebhook(query: Query, webhook: NewWebhook, id = newId()): Promise<Webhook> {
  const places = plainMembers.map((_member, index) => `$${index + 4}`);
  return onlyRow(
    await query<Webhook>({
      text: `insert into system.webhooks (id, active, type, ${plainMembers.join(', ')})
        values ($1, case when $2::boolean then ${fromNowOn} else '{}' end, $3, ${places.join(', ')})
        returning ${columns}`,
      values: [id, webhook.enabled, webhook.type, ...plainMembers.map((member) => webhook[member])],
    }),
  );
}

/**
 * Changes the given members. Events that happen while it is disabled are never sent to it. Another address, other headers
 * or another secret may fix a failing receiver, so they end its pause, as do disabling and enabling. Another secret
 * replaces both the current and the former one. Throws 404.
 */
export async function changeWebhook(query: Query, id: string, change: WebhookChange): Promise<Webhook> {
  const values: unknown[] = [id, change.enabled, change.url, change.headers, change.secret];
  const assigned = plainMembers
    .filter((member) => change[member] !== undefined)
    .map((member) => `${member} = $${values.push(change[member])},`);
  return onlyRow(
    await query<Webhook>({
      text: `update system.webhooks set
          ${assigned.join(' ')}
          ${change.payload_days === undefined ? '' : 'payloads_until = null,'}
          active = case
            when $2::boolean and not enabled then active + ${fromNowOn}
            when not $2::boolean and enabled then active - ${fromNowOn}
            else active
          end,
          ${resetHealthWhen(mayFixReceiver)},
          previous_secret = case when secret = coalesce($5, secret) then previous_secret end,
          previous_secret_until = case when secret = coalesce($5, secret) then previous_secret_until end,
          updated_at = now()
        where id = $1 returning ${columns}`,
      values,
    }),
  );
}

const mayFixReceiver = `((url, headers, secret, enabled) is distinct from
  (coalesce($3, url), coalesce($4::jsonb, headers), coalesce($5, secret), coalesce($2::boolean, enabled)))`;

/** Sets a new secret. The old one keeps signing for `overlapSec`. Throws 404. */
export async function regenerateSecret(query: Query, id: string, secret: string, overlapSec: number): Promise<Webhook> {
  return onlyRow(
    await query<Webhook>({
      text: `update system.webhooks set
          secret = $2, previous_secret = case when $3 > 0 then secret end,
          previous_secret_until = case when $3 > 0 then now() + make_interval(secs => $3) end,
          ${resetHealthWhen('true')}, updated_at = now()
        where id = $1 returning ${columns}`,
      values: [id, secret, overlapSec],
    }),
  );
}

/** Makes a paused webhook's next attempt due now: an admin is waiting for it. */
export async function endPause(query: Query, id: string): Promise<void> {
  await query({
    text: 'update system.webhooks set paused_until = now() where id = $1 and paused_until > now()',
    values: [id],
  });
}

/**
 * Deletes a webhook; foreign keys delete its deliveries. Throws 404. Must run in a transaction. Recording a delivery's
 * outcome locks its row in the queue before the delivery, so the queue is deleted first here too, to avoid deadlocks.
 */
export async function deleteWebhook(query: Query, id: string): Promise<void> {
  onlyRow(await query({ text: 'select id from system.webhooks where id = $1 for update', values: [id] }));
  await query({ text: 'delete from system.delivery_queue where webhook_id = $1', values: [id] });
  // In the order in which the outcomes' statement locks lanes.
  await query({
    text: `delete from system.delivery_lanes where id in (
        select id from system.delivery_lanes where webhook_id = $1 order by key for update
      )`,
    values: [id],
  });
  onlyRow(await query<Webhook>({ text: 'delete from system.webhooks where id = $1 returning id', values: [id] }));
}

function onlyRow<T>([row]: readonly T[]): T {
  if (!row) throw notFound('webhook');
  return row;
}
