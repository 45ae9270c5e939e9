import { envelopeSql } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { RequestContext } from '@recordbus/shared/context';
import { nowSec, originValues } from './event-sql.ts';

/** An event that is of no record; those of records are written with them (`insertEvents`). */
interface SingleEvent {
  /** Its name, as webhooks listen to it (interface §6.1). */
  readonly event: string;
  /** JSON text; it goes on the bus as PostgreSQL reads it. */
  readonly data: string;
  /** Of events with the same key the stream keeps the order. */
  readonly recordKey?: string;
  /** By whom and in which request; without one it is the product itself that acts. */
  readonly context?: RequestContext;
}

/**
 * Puts an event into the outbox, in the transaction of the executor if it has one, and gives its id. The relay finds
 * it by itself within seconds; who wants it at once sends the notice `outbox` after the commit.
 */
export async function putEvent(query: Query, { event, data, recordKey, context }: SingleEvent): Promise<string> {
  const origin = context ? originValues(context) : ['system', null, null, null];
  const [row] = await query<{ id: string }>({
    name: 'journal.put-event',
    text: insertEvent,
    values: [...origin, event, data, recordKey],
  });
  if (!row) throw new Error('the outbox gave no row');
  return row.id;
}

const insertEvent = `insert into system.outbox (event_id, event, record_key, body, traceparent)
  select e.id, $5::text, $7::text, ${envelopeSql({
    id: 'e.id',
    event: '$5::text',
    timestamp: nowSec,
    data: '$6::json',
    actorType: '$1::text',
    actorId: '$2::text',
    requestId: '$3::text',
  })}, $4::text
  from (select gen_random_uuid() as id) e
  returning event_id as id`;
