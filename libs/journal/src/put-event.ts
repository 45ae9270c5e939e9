import { envelopeSql } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { createNamedParameters } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';
import { type Origin, originOf } from './origin.ts';
import { nowSec } from './version-sql.ts';

/** An event that belongs to no record. A record's events are written with it (`composeWrite`). */
interface SingleEvent {
  /** Its name (events §1.1). */
  readonly event: string;
  /** JSON text. The bus gets it as PostgreSQL parses it. */
  readonly data: string;
  /** The stream keeps events with the same key in order. */
  readonly recordKey?: string;
  /** The request's context; without it, the actor is the product. */
  readonly context?: RequestContext;
}

/**
 * Adds an event to the outbox, in the transaction if `query` has one, and returns its id. The relay finds it within
 * seconds; the notice `outbox` after the commit makes it publish at once.
 */
export async function putEvent(query: Query, { event, data, recordKey, context }: SingleEvent): Promise<string> {
  const origin = context ? originOf(context) : ofProduct;
  const [row] = await query<{ id: string }>({
    name: 'journal.put-event',
    text: insertEvent,
    values: parameters.valuesFrom({ ...origin, event, data, recordKey: recordKey ?? null }),
  });
  if (!row) throw new Error('the insert into the outbox returned no row');
  return row.id;
}

const ofProduct: Origin = { actorType: 'system', actorId: null, requestId: null, traceparent: null, batch: null };

interface Given extends Origin {
  readonly event: string;
  readonly data: string;
  readonly recordKey: string | null;
}

const parameters = createNamedParameters<Given>();

const insertEvent = `insert into system.outbox (event_id, event, record_key, body, traceparent)
  select e.id, ${parameters.named('event', 'text')}, ${parameters.named('recordKey', 'text')}, ${envelopeSql({
    id: 'e.id',
    event: parameters.named('event', 'text'),
    timestamp: nowSec,
    data: parameters.named('data', 'json'),
    actorType: parameters.named('actorType', 'text'),
    actorId: parameters.named('actorId', 'text'),
    requestId: parameters.named('requestId', 'text'),
  })}, ${parameters.named('traceparent', 'text')}
  from (select gen_random_uuid() as id) e
  returning event_id as id`;
