import type pg from 'pg';

/**
 * Decides what becomes of the events that were on the stream when the backup was made, whatever stream the restored
 * deployment finds. What had its deliveries by then goes: it must not be sent again. The rest waits once more, under
 * the same ids, since the deployment's stream may never have had it.
 */
export async function settleEvents(client: pg.Client, handedOutUpTo: number | null): Promise<void> {
  await client.query(
    `delete from system.outbox o where o.published_at is not null
       and (o.stream_sequence <= $1::bigint or exists (select from system.events e where e.id = o.event_id))`,
    [handedOutUpTo],
  );
  await client.query(
    'update system.outbox set published_at = null, stream_sequence = null where published_at is not null',
  );
}
