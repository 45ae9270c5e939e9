import type { Query } from '@recordbus/database';
import type { ReceivedEvent } from '../fan-out/read-message.ts';

/**
 * Deletes the webhooks of records that were deleted (webhooks §9.5). The names are those of the collections whose records may
 * own webhooks.
 */
export async function endOwned(
  query: Query,
  events: readonly ReceivedEvent[],
  isOwners: (collection: string) => boolean,
): Promise<void> {
  const deleted = events.flatMap(({ received: { envelope }, message }) => {
    const { collection, event } = envelope;
    const id = message.header('ce-subject')?.split('/').at(-1);
    return collection !== undefined && id && event === `${collection}.delete` && isOwners(collection)
      ? [{ collection, id }]
      : [];
  });
  if (deleted.length === 0) return;
  await query({
    name: 'owners.end',
    text: `with ended as (
        select w.id from unnest($1::text[], $2::text[]) as d (collection, id)
        join system.collections c on c.name = d.collection
        join system.webhooks w on w.owner_collection = c.id and w.owner_id = d.id
        for update of w
      ), unqueued as (
        delete from system.delivery_queue q using ended where q.webhook_id = ended.id
      )
      delete from system.webhooks w using ended where w.id = ended.id`,
    values: [deleted.map(({ collection }) => collection), deleted.map(({ id }) => id)],
  });
}
