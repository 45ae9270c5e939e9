import type { Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { z } from 'zod';

/** An unblocking's body (webhooks §2.10). */
export const unblockRequest = z.strictObject({
  action: z.enum(['skip', 'retry'], 'must be skip or retry').describe('give the delivery up, or attempt it once more'),
  delivery_id: z
    .uuid('must be the id of a delivery')
    .optional()
    .describe('the delivery that blocks; by default the one that the status names'),
});

export type UnblockRequest = z.output<typeof unblockRequest>;

/** SQL: whether an ordered delivery `d` was sent in one request with another one. */
const isSameRequest = (other: string): string =>
  `d.lane_id = ${other}.lane_id and (d.delivery_id = ${other}.delivery_id or d.batch_id = ${other}.batch_id)`;

/**
 * Ends a block, so that the lane continues: behind the dead delivery and its batch, or with them. Returns the delivery's id. Throws
 * 409 if it does not block. Must run in a transaction.
 */
export async function unblock(
  query: Query,
  webhookId: string,
  { action, delivery_id }: UnblockRequest,
): Promise<string> {
  const [blocked] = await query<{ id: string; lane: string }>({
    text: `select id as lane, blocked_by as id from system.delivery_lanes
      where webhook_id = $1 and blocked_by is not null and blocked_by = coalesce($2::uuid, blocked_by)
      order by blocked_at, key limit 1 for update`,
    values: [webhookId, delivery_id],
  });
  if (!blocked) throw conflict('not_blocked', 'no such delivery blocks the webhook');
  const { id, lane } = blocked;
  await query({
    text:
      action === 'skip'
        ? `delete from system.ordered_deliveries d using system.ordered_deliveries dead
            where dead.delivery_id = $1 and ${isSameRequest('dead')}`
        : revive(`select d.* from system.ordered_deliveries d, system.ordered_deliveries dead
            where dead.delivery_id = $1 and ${isSameRequest('dead')}`),
    values: [id],
  });
  await query({
    text: `update system.delivery_lanes set blocked_by = null, blocked_at = null, next_attempt_at = clock_timestamp()
      where id = $1`,
    values: [lane],
  });
  return id;
}

/** SQL: makes ordered deliveries (SQL) pending again. */
const revive = (which: string): string => `update system.deliveries d
  set status = 'pending', completed_at = null, updated_at = clock_timestamp()
  from (${which}) as o where d.id = o.delivery_id and d.occurred_at = o.occurred_at`;

/** Ends blocks whose event has a newer delivery in the lane. It takes the dead delivery's place; its batch is sent again. */
export async function replaceBlocking(query: Query, webhookId: string): Promise<void> {
  await query({
    text: `with freed as (
        update system.delivery_lanes l set blocked_by = null, blocked_at = null, next_attempt_at = clock_timestamp()
        from system.ordered_deliveries dead
        where l.webhook_id = $1 and dead.delivery_id = l.blocked_by and exists (
          select from system.ordered_deliveries newer
          where newer.lane_id = l.id and newer.event_id = dead.event_id and newer.delivery_id <> dead.delivery_id
        )
        returning dead.*
      ), revived as (
        ${revive(`select d.* from system.ordered_deliveries d, freed
          where ${isSameRequest('freed')} and d.delivery_id <> freed.delivery_id`)}
      )
      delete from system.ordered_deliveries d using freed where d.delivery_id = freed.delivery_id`,
    values: [webhookId],
  });
}
