import { ownersSchema } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { OwnersDeps } from '@recordbus/webhook-owners';
import { compileFilter } from '../fan-out/filter-plans.ts';
import { judge } from '../fan-out/judge-filters.ts';
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
 * Returns the deliveries that pass their webhooks' filters (webhooks §1.7), one statement for each webhook with a filter. A
 * filter reads only what the owner gets. A record's leaving passes: its body has nothing to filter by.
 */
export async function passFilters<Delivery extends FilteredDelivery>(
  { query, collation }: Pick<OwnersDeps, 'query' | 'collation'>,
  deliveries: readonly Delivery[],
): Promise<Delivery[]> {
  const isFree = ({ filter, name, event }: Delivery) => filter === null || name !== event.event;
  const passed = deliveries.filter(isFree);
  const rest = deliveries.filter((delivery) => !isFree(delivery));
  for (const group of Map.groupBy(rest, ({ webhookId, collection }) => `${webhookId} ${collection.id}`).values()) {
    const [{ filter, collection, webhookId: id } = {}] = group;
    const compiled =
      filter && collection && compileFilter(filter, collection, ownersSchema({ collation: collation() }));
    if (!compiled || id === undefined) continue;
    const { plan, values } = compiled;
    const events = group.map(({ event, body }) => ({ ...event, received: { ...event.received, text: body } }));
    const names = [...new Set(group.map(({ name }) => name))];
    const found = await judge(query, collection, events, [{ plan, webhooks: [{ id, filter, events: names, values }] }]);
    const ids = new Set(found.map(({ eventId }) => eventId));
    passed.push(...group.filter(({ event }) => ids.has(event.id)));
  }
  return passed;
}
