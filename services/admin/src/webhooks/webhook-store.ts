import { newId, type Query } from '@recordbus/database';
import { notFound } from '@recordbus/shared/errors';
import type { NewWebhook, Webhook, WebhookChange } from './webhook-schema.ts';

const columns = `id, name, url, events, secret, headers, enabled, retry_max, retry_backoff, retry_delay_ms, timeout_ms,
  floor(extract(epoch from created_at))::bigint as created_at,
  floor(extract(epoch from updated_at))::bigint as updated_at`;
const listensFromNow = 'tstzmultirange(tstzrange(now(), null))';

/** Assignments that forget a row of failures, and with it a pause, when the condition holds. */
const healthAfter = (condition: string) =>
  `failures = case when ${condition} then 0 else failures end,
  failing_since = case when not ${condition} then failing_since end,
  paused_until = case when not ${condition} then paused_until end`;

/** Throws 404 when there is no such webhook. */
export async function getWebhook(query: Query, id: string): Promise<Webhook> {
  return one(await query<Webhook>({ text: `select ${columns} from system.webhooks where id = $1`, values: [id] }));
}

/** A page of the webhooks, newest first, and how many there are in all. */
export async function listWebhooks(
  query: Query,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<{ rows: Webhook[]; totalItems: number }> {
  const rows = await query<Webhook>({
    text: `select ${columns} from system.webhooks order by webhooks.created_at desc, id desc limit $1 offset $2`,
    values: [perPage, (page - 1) * perPage],
  });
  const [total] = await query<{ count: number }>({ text: 'select count(*) from system.webhooks', values: [] });
  return { rows, totalItems: total?.count ?? 0 };
}

/** It listens from now on, unless it is disabled. */
export async function createWebhook(query: Query, webhook: NewWebhook): Promise<Webhook> {
  const { name, url, events, secret, headers, enabled } = webhook;
  const { retry_max, retry_backoff, retry_delay_ms, timeout_ms } = webhook;
  return one(
    await query<Webhook>({
      text: `insert into system.webhooks
          (id, name, url, events, secret, headers, active, retry_max, retry_backoff, retry_delay_ms, timeout_ms)
        values ($1, $2, $3, $4, $5, $6, case when $7::boolean then ${listensFromNow} else '{}' end, $8, $9, $10, $11)
        returning ${columns}`,
      values: [
        newId(),
        name,
        url,
        events,
        secret,
        headers,
        enabled,
        retry_max,
        retry_backoff,
        retry_delay_ms,
        timeout_ms,
      ],
    }),
  );
}

const isMended = `((url, headers, secret, enabled) is distinct from
  (coalesce($3, url), coalesce($6::jsonb, headers), coalesce($5, secret), coalesce($7::boolean, enabled)))`;

/**
 * Changes what is given. What happens while it is disabled is not sent to it later. Another address, headers or secret
 * may mend a receiver that only failed, so they end its pause, as disabling and enabling do; another secret takes the
 * place of both the old one and the one before that. Throws 404.
 */
export async function changeWebhook(query: Query, id: string, change: WebhookChange): Promise<Webhook> {
  return one(
    await query<Webhook>({
      text: `update system.webhooks set
          name = coalesce($2, name), url = coalesce($3, url), events = coalesce($4, events),
          secret = coalesce($5, secret), headers = coalesce($6::jsonb, headers),
          active = case
            when $7::boolean and not enabled then active + ${listensFromNow}
            when not $7::boolean and enabled then active - ${listensFromNow}
            else active
          end,
          ${healthAfter(isMended)},
          previous_secret = case when secret = coalesce($5, secret) then previous_secret end,
          previous_secret_until = case when secret = coalesce($5, secret) then previous_secret_until end,
          retry_max = coalesce($8, retry_max), retry_backoff = coalesce($9, retry_backoff),
          retry_delay_ms = coalesce($10, retry_delay_ms), timeout_ms = coalesce($11, timeout_ms), updated_at = now()
        where id = $1 returning ${columns}`,
      values: [
        id,
        change.name,
        change.url,
        change.events,
        change.secret,
        change.headers,
        change.enabled,
        change.retry_max,
        change.retry_backoff,
        change.retry_delay_ms,
        change.timeout_ms,
      ],
    }),
  );
}

/** Gives it a new secret; the one it had goes on to sign for so long. Throws 404. */
export async function regenerateSecret(query: Query, id: string, secret: string, overlapSec: number): Promise<Webhook> {
  return one(
    await query<Webhook>({
      text: `update system.webhooks set
          secret = $2, previous_secret = case when $3 > 0 then secret end,
          previous_secret_until = case when $3 > 0 then now() + make_interval(secs => $3) end,
          ${healthAfter('true')}, updated_at = now()
        where id = $1 returning ${columns}`,
      values: [id, secret, overlapSec],
    }),
  );
}

/** Lets the next attempt of a paused webhook come at once, since somebody wants to see it. */
export async function endPause(query: Query, id: string): Promise<void> {
  await query({
    text: 'update system.webhooks set paused_until = now() where id = $1 and paused_until > now()',
    values: [id],
  });
}

/**
 * Its deliveries go with it (foreign keys). Throws 404. Runs in a transaction: who records the outcome of a delivery
 * locks its place in the queue before the delivery itself, so the queue has to go first here too, or the two may
 * deadlock.
 */
export async function deleteWebhook(query: Query, id: string): Promise<void> {
  one(await query({ text: 'select id from system.webhooks where id = $1 for update', values: [id] }));
  await query({ text: 'delete from system.delivery_queue where webhook_id = $1', values: [id] });
  one(await query<Webhook>({ text: 'delete from system.webhooks where id = $1 returning id', values: [id] }));
}

function one<T>([row]: readonly T[]): T {
  if (!row) throw notFound('webhook');
  return row;
}
