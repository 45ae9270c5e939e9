import type { Query } from '@recordbus/database';
import { z } from 'zod';
import type { EventDescription } from './description.ts';

const stored = z.array(
  z.object({
    name: z.string(),
    description: z.string(),
    schema: z.record(z.string(), z.unknown()),
    example: z.unknown(),
  }),
);

/**
 * Stores the events that extensions declare, for services that run none. The replica that last loaded its extensions
 * decides. Of two events with one name, the first counts.
 */
export async function storeCustomEvents(query: Query, events: readonly EventDescription[]): Promise<void> {
  const first = [...new Map(events.toReversed().map((event) => [event.name, event])).values()];
  const sorted = first.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  await query({
    text: `insert into system.custom_events as known (events) values ($1::jsonb)
      on conflict (only_row) do update set events = excluded.events where known.events <> excluded.events`,
    values: [JSON.stringify(sorted)],
  });
}

/** Reads the events that extensions declare, by name. */
export async function readCustomEvents(query: Query): Promise<z.output<typeof stored>> {
  const [row] = await query<{ events: unknown }>({ text: 'select events from system.custom_events', values: [] });
  return stored.parse(row?.events ?? []);
}
