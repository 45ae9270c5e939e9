import { ownersSchema } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { OwnersDeps } from '@recordbus/webhook-owners';
import { compileFilter, groupByPlan } from '../fan-out/filter-plans.ts';
import { judgeGroups } from '../fan-out/judge-filters.ts';
import type { IncomingEvent } from '../fan-out/read-message.ts';

/** A delivery that the collection's rule admits, and its webhook's filter. */
export interface FilteredDelivery {
  readonly event: IncomingEvent;
  /** The name that the owner gets. */
  readonly name: string;
  readonly body: string;
  readonly webhookId: string;
  readonly filter: string | null;
  readonly collection: Collection;
}

/**
 * Returns the deliveries that pass their webhooks' filters (webhooks §1.7), one statement for all webhooks whose owners get the
 * same of a collection's events. A filter reads only what the owner gets. A record's leaving passes: its body has nothing to
 * filter by.
 */
export async function passFilters<Delivery extends FilteredDelivery>(
  deps: Pick<OwnersDeps, 'query' | 'collation'>,
  deliveries: readonly Delivery[],
): Promise<Delivery[]> {
  const isFree = ({ filter, name, event }: Delivery) => filter === null || name !== event.event;
  const passed = deliveries.filter(isFree);
  const rest = deliveries.filter((delivery) => !isFree(delivery));
  for (const ofCollection of Map.groupBy(rest, ({ collection }) => collection.id).values())
    for (const round of withOneBodyEach(ofCollection)) passed.push(...(await judgeRound(deps, round)));
  return passed;
}

/** Parts deliveries so that in each part an event has one body: owners to whom a record has just come get less of it. */
function withOneBodyEach<Delivery extends FilteredDelivery>(deliveries: readonly Delivery[]): readonly Delivery[][] {
  const rounds: { readonly bodies: Map<string, string>; readonly deliveries: Delivery[] }[] = [];
  for (const delivery of deliveries) {
    const { event, body } = delivery;
    const found = rounds.find(({ bodies }) => (bodies.get(event.id) ?? body) === body);
    const round = found ?? { bodies: new Map<string, string>(), deliveries: [] };
    if (!found) rounds.push(round);
    round.bodies.set(event.id, body);
    round.deliveries.push(delivery);
  }
  return rounds.map((round) => round.deliveries);
}

async function judgeRound<Delivery extends FilteredDelivery>(
  { query, collation }: Pick<OwnersDeps, 'query' | 'collation'>,
  deliveries: readonly Delivery[],
): Promise<Delivery[]> {
  const [{ collection } = {}] = deliveries;
  const schema = ownersSchema({ collation: collation() });
  const events = [
    ...new Map(
      deliveries.map(({ event, body }) => [event.id, { ...event, received: { ...event.received, text: body } }]),
    ).values(),
  ];
  const ofWebhooks = Map.groupBy(deliveries, ({ webhookId }) => webhookId);
  const webhooks = [...ofWebhooks].flatMap(([id, [{ filter } = {}]]) => {
    const compiled = filter ? compileFilter(filter, collection, schema) : undefined;
    return filter && compiled ? [{ id, filter, events: [], ...compiled }] : [];
  });
  const pairs = new Map([...ofWebhooks].map(([id, own]) => [id, new Set(own.map(({ event }) => event.id))]));
  const found = await judgeGroups(query, collection, events, groupByPlan(webhooks), pairs);
  const keys = new Set(found.map(({ eventId, webhookId }) => `${eventId} ${webhookId}`));
  return deliveries.filter(({ event, webhookId }) => keys.has(`${event.id} ${webhookId}`));
}
