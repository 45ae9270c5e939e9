import type pg from 'pg';

/**
 * Cleans the outbox after a restore, for any stream that the restored deployment may have. It deletes published events
 * whose deliveries existed at the backup, because they must not be sent again. It queues the other events again under
 * the same ids, because the stream may never have had them.
 */
export async function requeueEvents(client: pg.Client, processedUpTo: number | null): Promise<void> {
  await client.query(
    `delete from system.outbox o where o.published_at is not null
       and (o.stream_sequence <= $1::bigint or exists (select from system.events e where e.id = o.event_id))`,
    [processedUpTo],
  );
  await client.query(
    'update system.outbox set published_at = null, stream_sequence = null where published_at is not null',
  );
}
