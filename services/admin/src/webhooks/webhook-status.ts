import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import { z } from 'zod';

const unixSeconds = z.number().describe('unix seconds').nullable();

/** The health of a webhook's receiver, and its pending deliveries. */
export const webhookStatusJson = z
  .object({
    state: z.enum(['active', 'paused', 'disabled']).describe('paused: every attempt fails; its events are kept'),
    failures: z.number().describe('failed attempts since the last success'),
    failing_since: unixSeconds.describe('the first such failure; for a disabled webhook, the reason it was disabled'),
    paused_until: unixSeconds.describe('when one delivery is tried'),
    previous_secret_until: unixSeconds.describe('until when the former secret signs too'),
    pending: z.number().describe('deliveries that are not yet sent'),
    oldest_pending_at: unixSeconds,
    blocking: z
      .object({ delivery_id: z.string(), key: z.string().nullable().describe("the record's id; null with `all`") })
      .nullable()
      .describe('the dead delivery for which others have waited longest'),
    blocked: z.number().describe('dead deliveries that others wait for'),
  })
  .meta({ id: 'WebhookStatus' });

export type WebhookStatus = z.output<typeof webhookStatusJson>;

const seconds = (expression: string) => `floor(extract(epoch from ${expression}))::bigint`;

/** Returns a webhook's status. Throws 404. */
export async function getWebhookStatus(query: Query, id: string): Promise<WebhookStatus> {
  const [status] = await query<WebhookStatus>({
    text: `select
        case when not enabled then 'disabled' when paused_until is not null then 'paused' else 'active' end as state,
        failures, ${seconds('failing_since')} as failing_since, ${seconds('paused_until')} as paused_until,
        ${seconds('case when previous_secret_until > now() then previous_secret_until end')} as previous_secret_until,
        waiting.count + ordered.count - coalesce(blocked.count, 0) as pending,
        ${seconds('least(waiting.oldest, ordered.oldest)')} as oldest_pending_at,
        blocked.first as blocking, coalesce(blocked.count, 0) as blocked
      from system.webhooks w, lateral (
        select count(*) as count, min(occurred_at) as oldest from system.delivery_queue q where q.webhook_id = w.id
      ) as waiting, lateral (
        select count(*) as count, min(d.occurred_at) as oldest from system.ordered_deliveries d where d.webhook_id = w.id
      ) as ordered left join lateral (
        select sum(dead.count) over ()::bigint as count,
          json_build_object('delivery_id', l.blocked_by, 'key', nullif(l.key, '')) as first
        from system.delivery_lanes l cross join lateral (
          select count(*) from system.ordered_deliveries d join system.ordered_deliveries first
            on first.delivery_id = l.blocked_by and (d.delivery_id = first.delivery_id or d.batch_id = first.batch_id)
          where d.lane_id = l.id
        ) as dead
        where l.webhook_id = w.id and l.blocked_by is not null
        order by l.blocked_at, l.key limit 1
      ) as blocked on true
      where id = $1`,
    values: [id],
  });
  if (!status) throw notFound('webhook');
  return status;
}
