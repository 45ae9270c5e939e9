import { newId, type Query } from '@recordbus/database';
import { notFound } from '@recordbus/shared/errors';
import type { NewWebhook, Webhook, WebhookChange } from './webhook-schema.ts';

const columns = `id, name, url, events, secret, headers, enabled, retry_max, retry_backoff, retry_delay_ms, timeout_ms,
  floor(extract(epoch from created_at))::bigint as created_at,
  floor(extract(epoch from updated_at))::bigint as updated_at`;
const listensFromNow = 'tstzmultirange(tstzrange(now(), null))';

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

/** Changes what is given. What happens while it is disabled is not sent to it later. Throws 404. */
export async function changeWebhook(query: Query, id: string, change: WebhookChange): Promise<Webhook> {
  return one(
    await query<Webhook>({
      text: `update system.webhooks set
          name = coalesce($2, name), url = coalesce($3, url), events = coalesce($4, events),
          secret = coalesce($5, secret), headers = coalesce($6, headers),
          active = case
            when $7::boolean and not enabled then active + ${listensFromNow}
            when not $7::boolean and enabled then active - ${listensFromNow}
            else active
          end,
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
