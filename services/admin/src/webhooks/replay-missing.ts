import { setTimeout as delay } from 'node:timers/promises';
import type { Bus } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { unavailable, validationFailed } from '@recordbus/errors';
import type { ReplayRequest } from './delivery-schema.ts';
import type { Webhook } from './webhook-schema.ts';

const pollMs = 50;
/** Below the time that the gateway waits for an answer. */
const patienceMs = 50_000;

interface Deps {
  readonly query: Query;
  readonly bus: Pick<Bus, 'notify'>;
}

/**
 * Has the webhooks service create deliveries of the events that the webhook matches and never got (webhooks §4.5). Returns
 * how many; in a dry run they are only counted. Throws 503 if no answer comes in time. The work may then continue, and a
 * repeated request creates only what is left.
 */
export async function replayMissing(
  { query, bus }: Deps,
  { id: webhookId, owner }: Webhook,
  { since, until, dry_run }: ReplayRequest,
): Promise<number> {
  if (owner) throw validationFailed({ missing: 'is not for webhooks with an owner' });
  const [made] = await query<{ id: string }>({
    text: `insert into system.webhook_replays (webhook_id, since, until, is_dry_run)
      values ($1, to_timestamp($2), coalesce(to_timestamp($3::bigint + 1) - interval '1 microsecond', now()), $4) returning id`,
    values: [webhookId, since, until === undefined ? undefined : Math.floor(until), dry_run],
  });
  try {
    const deadlineMs = performance.now() + patienceMs;
    while (performance.now() < deadlineMs) {
      // Again each time, since a notice may be lost.
      bus.notify('replays');
      await delay(pollMs);
      const [answer] = await query<{ count: number | null; error: string | null }>({
        text: 'select count, error from system.webhook_replays where id = $1',
        values: [made?.id],
      });
      if (answer?.error != null) throw unavailable('the event stream cannot be read');
      if (answer?.count != null) return answer.count;
    }
    throw unavailable('the replay takes longer; repeat it for what is left');
  } finally {
    await query({ text: 'delete from system.webhook_replays where id = $1', values: [made?.id] });
  }
}
