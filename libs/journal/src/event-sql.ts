import { envelopeSql } from '@recordbus/bus';
import { type Collection, quoteLiteral } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { currentTraceparent } from '@recordbus/shared/telemetry';

/** What may happen to a record; the second part of an event's name (interface §6.1). */
export type Verb = 'create' | 'update' | 'delete';

/** From these the totals of lists are brought up to date (read/total.ts). */
const recordsAdded: Readonly<Record<Verb, number>> = { create: 1, update: 0, delete: -1 };

interface EventParts {
  readonly collection: Collection;
  readonly verb: Verb;
  /** The relation whose rows become events: columns `id` and `record`, for updates `previous` and `changed` (JSON text). */
  readonly source: string;
}

/**
 * The INSERT that puts an event for each row of a relation into the outbox; it stands in the statement that writes
 * the records, so there is never one without the other. The statement's first four values are `originValues`.
 */
export function insertEvents({ collection, verb, source }: EventParts): string {
  const name = quoteLiteral(collection.name);
  const data = verb === 'update' ? `',"previous":' || e.previous || ',"changed":' || e.changed || '}'` : `'}'`;
  const body = envelopeSql({
    id: 'e.event_id',
    event: quoteLiteral(`${collection.name}.${verb}`),
    timestamp: nowSec,
    collection: name,
    data: `'{"record":' || e.record || ${data}`,
    actorType: '$1::text',
    actorId: '$2::text',
    requestId: '$3::text',
  });
  return `insert into system.outbox (event_id, event, record_key, body, traceparent, collection_id, records_added)
  select e.event_id, ${quoteLiteral(`${collection.name}.${verb}`)}, ${name} || '/' || e.id, ${body}, $4::text,
    ${quoteLiteral(collection.id)}, ${recordsAdded[verb]}
  from (select s.*, gen_random_uuid() as event_id from ${source} s) e`;
}

/** Who wrote, in which request: the first four values of every writing statement. */
export function originValues({ principal, requestId, traceparent }: RequestContext): unknown[] {
  const actorId = principal.type === 'guest' ? null : principal.id;
  return [principal.type, actorId, requestId, currentTraceparent(traceparent)];
}

/** The present in unix seconds, by the clock that all replicas share. */
export const nowSec = 'floor(extract(epoch from now()))::bigint';

/** The next `updated_at` of a row: it strictly increases, so an ETag never names two versions (contract §1). */
export const nextUpdatedAt = (alias: string): string => `greatest(${nowSec}, ${alias}.updated_at + 1)`;
