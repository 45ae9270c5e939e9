import type { Query } from '@recordbus/database';
import type { ReceivedEvent } from './read-message.ts';

/** An event and a webhook with an owner whose patterns name the event, or the record's leaving. */
export interface OwnedMatch {
  readonly eventId: string;
  readonly webhookId: string;
  readonly ownerCollection: string;
  readonly ownerId: string;
  readonly filter: string | null;
  readonly isOrdered: boolean;
  /** The names that the patterns match: the event's, the leaving's, or both. */
  readonly names: readonly string[];
}

/** Finds the owners' webhooks whose patterns match records' events. The fan-out checks their rules. */
export async function findOwnedMatches(query: Query, events: readonly ReceivedEvent[]): Promise<OwnedMatch[]> {
  const ofRecords = events.filter(({ received }) => received.envelope.collection !== undefined);
  const named = ofRecords.flatMap(({ received: { envelope } }) =>
    namesOf(envelope.event).map((name) => ({ id: envelope.id, name })),
  );
  if (named.length === 0) return [];
  return query<OwnedMatch>({
    name: 'owners.matches',
    text: `select i.id as "eventId", w.id as "webhookId", w.owner_collection as "ownerCollection", w.owner_id as "ownerId",
        w.filter, w.ordering <> 'none' as "isOrdered", array_agg(distinct i.name) as names
      from unnest($1::uuid[], $2::text[]) as i (id, name)
      join system.webhooks w on w.owner_collection is not null and exists (
        select from unnest(w.events) as pattern
        where pattern = '*' or pattern = i.name or (right(pattern, 2) = '.*' and starts_with(i.name, left(pattern, -1)))
      )
      group by 1, 2, 3, 4, 5, 6`,
    values: [named.map(({ id }) => id), named.map(({ name }) => name)],
  });
}

/** The event that tells an owner that it no longer gets the record (webhooks §9.3). */
export const leaveEvent = (event: string): string => event.replace(/\.[^.]*$/, '.leave');

/** An update may take the record away from an owner. */
const namesOf = (event: string): string[] => (event.endsWith('.update') ? [event, leaveEvent(event)] : [event]);
