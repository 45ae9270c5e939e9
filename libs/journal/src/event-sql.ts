import { envelopeSql } from '@recordbus/bus';
import { type Collection, encryptedFieldsOf, quoteLiteral, shapeOf } from '@recordbus/schema';
import type { OriginParameters } from './origin.ts';
import { nowSec } from './version-sql.ts';

/** What a write does to a record; the event name's second part (events §1.1). */
export type Verb = 'create' | 'update' | 'delete';

/** By how much the record count changes. Lists compute incremental totals from it (read/total.ts). */
const recordsAdded: Readonly<Record<Verb, number>> = { create: 1, update: 0, delete: -1 };

interface EventParts {
  readonly collection: Collection;
  readonly verb: Verb;
  /**
   * The relation whose rows become events: columns `id`, `version` and `record`, for updates `previous` and `changed`
   * (JSON text), and for collections with encrypted fields, unless it is a delete, `sealed`.
   */
  readonly source: string;
  /** The place in the batch, as SQL on a row `e` of the relation; by default the whole statement's place. */
  readonly batch?: string | undefined;
}

/**
 * Inserts an event into the outbox for each row of a relation. It is part of the statement that writes the records, so
 * records and events commit together.
 */
export function insertEvents(parameters: OriginParameters, { collection, verb, source, batch }: EventParts): string {
  const name = quoteLiteral(collection.name);
  const data = verb === 'update' ? `',"previous":' || e.previous || ',"changed":' || e.changed || '}'` : `'}'`;
  const body = envelopeSql({
    id: 'e.event_id',
    event: quoteLiteral(`${collection.name}.${verb}`),
    timestamp: nowSec,
    collection: name,
    version: 'e.version',
    schema: quoteLiteral(shapeOf(collection)),
    data: `'{"record":' || e.record || ${data}`,
    actorType: parameters.named('actorType', 'text'),
    actorId: parameters.named('actorId', 'text'),
    requestId: parameters.named('requestId', 'text'),
    batch: batch ?? parameters.named('batch', 'text'),
  });
  const hasSealed = verb !== 'delete' && encryptedFieldsOf(collection).length > 0;
  return `insert into system.outbox (event_id, event, record_key, body, traceparent, collection_id, records_added${hasSealed ? ', sealed' : ''})
  select e.event_id, ${quoteLiteral(`${collection.name}.${verb}`)}, ${name} || '/' || e.id, ${body}, ${parameters.named('traceparent', 'text')},
    ${ownId(collection)}, ${recordsAdded[verb]}${hasSealed ? ', e.sealed' : ''}
  from (select s.*, gen_random_uuid() as event_id from ${source} s) e`;
}

/**
 * Inserts one row, marked as published, into the outbox: by how many records a write without events changed its
 * collection. List totals need it (read/total.ts). At most 32,767 records.
 */
export const insertCount = ({ collection, verb, source }: Omit<EventParts, 'batch'>): string =>
  `insert into system.outbox (event_id, event, body, collection_id, records_added, published_at)
  select gen_random_uuid(), ${quoteLiteral(`${collection.name}.${verb}`)}, '', ${ownId(collection)},
    ${recordsAdded[verb]} * count(*), now()
  from ${source} having count(*) > 0`;

/**
 * The collection's id, as SQL that is evaluated once. Tables have their collections' names: a statement that was composed
 * for a dropped or renamed collection finds the table of another one that has its name now. There it fails like a
 * statement whose table is gone (`undefinedTable`), so that it is composed again, by the other one's rules and fields.
 * Nothing else would tell: live clients follow collections by their ids.
 */
const ownId = ({ id, name }: Collection): string =>
  `coalesce(
    (select c.id from system.collections c where c.id = ${quoteLiteral(id)} and c.name = ${quoteLiteral(name)}),
    concat('records."collection:', ${quoteLiteral(id)}, '"')::regclass::text
  )`;
