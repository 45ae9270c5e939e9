import type { Query } from '@recordbus/database';
import {
  judgeOwners,
  type OwnedChange,
  type OwnersDeps,
  ownerBody,
  readChange,
  readCurrentRules,
  shareOf,
} from '@recordbus/webhook-owners';
import { lifeOf, putMadeInLanes } from '../fan-out/fan-out-ordered.ts';
import { leaveEvent, type OwnedMatch } from '../fan-out/match-owned.ts';
import type { IncomingEvent } from '../fan-out/read-message.ts';
import { type FilteredDelivery, passFilters } from './pass-filters.ts';

interface FanOutDeps extends OwnersDeps {
  /** Returns the stream's life. Called when deliveries are put into lanes. */
  readonly readLife: () => Promise<number>;
}

/**
 * Creates the deliveries to owners' webhooks that the collections' `webhook_rule` admits (webhooks §9.3). Repeating it with
 * the same events adds nothing. Returns how many deliveries are new.
 */
export async function fanOutToOwners(
  deps: FanOutDeps,
  events: readonly IncomingEvent[],
  matches: readonly OwnedMatch[],
): Promise<number> {
  if (matches.length === 0) return 0;
  const rules = await readCurrentRules(deps);
  const byId = new Map(events.map((event) => [event.id, event]));
  const items = matches.flatMap((match): (OwnedChange & { event: IncomingEvent; match: OwnedMatch })[] => {
    const event = byId.get(match.eventId);
    const collection = rules.findByName(event?.received.envelope.collection ?? '');
    const owner = rules.findById(match.ownerCollection);
    const change = event && collection?.rules.webhook && readChange(event.event, event.body, collection);
    return change && owner ? [{ change, owner, ownerId: match.ownerId, event, match }] : [];
  });
  if (items.length === 0) return 0;
  const verdicts = await judgeOwners(deps.query, rules.schema, items);
  const wanted = items.flatMap(({ change, owner, event, match }, index) => {
    const share = shareOf(change, verdicts[index] ?? { held: false, holds: false });
    if (!share) return [];
    const name = share === 'left' ? leaveEvent(event.event) : event.event;
    if (!match.names.includes(name) || !rules.mayGet(owner, name)) return [];
    const body = ownerBody(event.body, name, change, share);
    const { webhookId, filter, isOrdered } = match;
    const { collection } = change;
    return [{ event, name, body, webhookId, filter, isOrdered, collection, collectionId: collection.id }];
  });
  const passed = await passFilters(deps, wanted);
  const { free = [], inLanes = [] } = Object.groupBy(passed, ({ isOrdered }) => (isOrdered ? 'inLanes' : 'free'));
  return (
    (free.length > 0 ? await insertDeliveries(deps.query, free) : 0) +
    (inLanes.length > 0 ? await insertOrdered(deps.query, inLanes, await deps.readLife()) : 0)
  );
}

interface WantedDelivery extends FilteredDelivery {
  readonly collectionId: string;
  readonly isOrdered: boolean;
}

/** The rows to make, and their events. */
const incomingStored = `incoming as (
        select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
          as i (id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id, request_id, name,
            own_body, webhook_id, collection_id)
      ), stored as (
        insert into system.events (id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id,
          request_id)
        select distinct on (id) id, occurred_at, event, traceparent, body, record_id, version, actor_type, actor_id,
          request_id
        from incoming
        on conflict (id, occurred_at) do nothing
      )`;

async function insertDeliveries(query: Query, wanted: readonly WantedDelivery[]): Promise<number> {
  const [row] = await query<{ made: number }>({
    name: 'fan-out.owners',
    text: `with ${incomingStored}, made as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status, body, collection_id)
        select system.delivery_id(i.id, i.webhook_id, i.occurred_at), i.occurred_at, i.id, i.webhook_id, i.name, 'pending',
          i.own_body, i.collection_id
        from incoming i join system.webhooks w on w.id = i.webhook_id and w.active @> i.occurred_at order by 1
        on conflict (id, occurred_at) do nothing
        returning id, occurred_at, event_id, webhook_id
      ), queued as (
        insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
        select id, occurred_at, event_id, webhook_id from made
      )
      select count(*) as made from made`,
    values: valuesOf(wanted),
  });
  return row?.made ?? 0;
}

/** The same for ordered webhooks: the deliveries go into lanes. */
async function insertOrdered(query: Query, wanted: readonly WantedDelivery[], life: number): Promise<number> {
  const [row] = await query<{ made: number }>({
    name: 'fan-out.owners-ordered',
    text: `with ${incomingStored}, place as (
        select * from unnest($1::uuid[], $15::bigint[], $16::bigint[]) as p (id, life, sequence)
      ), made as (
        insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status, body, collection_id, stream_life,
          stream_sequence)
        select system.delivery_id(i.id, i.webhook_id, i.occurred_at), i.occurred_at, i.id, i.webhook_id, i.name, 'pending',
          i.own_body, i.collection_id, place.life, place.sequence
        from incoming i
        join (select id, max(life) as life, max(sequence) as sequence from place group by id) as place on place.id = i.id
        join system.webhooks w on w.id = i.webhook_id and w.active @> i.occurred_at order by 1
        on conflict (id, occurred_at) do nothing
        returning id, occurred_at, event_id, webhook_id, stream_life, stream_sequence
      ), ${putMadeInLanes('(select record_id from incoming where incoming.id = made.event_id limit 1)')}
      select count(*) as made from placed`,
    values: [
      ...valuesOf(wanted),
      wanted.map(({ event }) => lifeOf(event, life)),
      wanted.map(({ event }) => event.sequence),
    ],
  });
  return row?.made ?? 0;
}

function valuesOf(wanted: readonly WantedDelivery[]): unknown[] {
  const of = (read: (one: WantedDelivery) => unknown) => wanted.map(read);
  return [
    of(({ event }) => event.id),
    of(({ event }) => event.occurredAt),
    of(({ event }) => event.event),
    of(({ event }) => event.traceparent),
    of(({ event }) => event.body),
    of(({ event }) => event.recordId),
    of(({ event }) => event.received.envelope.version),
    of(({ event }) => event.received.envelope.actor.type),
    of(({ event }) => event.received.envelope.actor.id),
    of(({ event }) => event.received.envelope.request_id?.replaceAll('\0', '\ufffd')),
    of(({ name }) => name),
    of(({ body }) => body),
    of(({ webhookId }) => webhookId),
    of(({ collectionId }) => collectionId),
  ];
}
