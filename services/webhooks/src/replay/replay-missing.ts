import {
  type Bus,
  completeEnvelopes,
  type ErasedRecords,
  type EventMessage,
  type EventStream,
  readEventsSince,
} from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { EventDays } from '../fan-out/event-days.ts';
import { fanOutPassed, findUndelivered } from '../fan-out/fan-out.ts';
import { fanOutOrdered } from '../fan-out/fan-out-ordered.ts';
import type { FilterPlans } from '../fan-out/filter-plans.ts';
import { judgeFilters } from '../fan-out/judge-filters.ts';
import { type IncomingEvent, type ReceivedEvent, readDetails, readMessage } from '../fan-out/read-message.ts';
import type { ReplayRequest } from './replay-requests.ts';

interface ReplayDeps {
  readonly query: Query;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly days: EventDays;
  readonly filters: FilterPlans;
  readonly readLife: () => Promise<number>;
  readonly erased: Pick<ErasedRecords, 'isErased' | 'refresh'>;
}

const batchSize = 200;

/**
 * Creates deliveries of the events in the stream that the webhook matches now and that none was made of: it did not exist
 * yet, was disabled, or had another filter. Returns how many, and only counts them in a dry run. Repeating it adds nothing.
 */
export async function replayMissing(deps: ReplayDeps, request: ReplayRequest): Promise<number> {
  // Most of what it reads is old, so the copy has to know every erasure up to now.
  await deps.erased.refresh();
  let count = 0;
  let batch: EventMessage[] = [];
  for await (const message of readEventsSince(deps.bus, deps.stream, new Date(request.since))) {
    if (deps.erased.isErased(message)) continue;
    batch.push(message);
    if (batch.length < batchSize) continue;
    count += await replayBatch(deps, request, batch);
    batch = [];
  }
  return count + (await replayBatch(deps, request, batch));
}

async function replayBatch(
  { query, days, filters, readLife }: ReplayDeps,
  { webhookId, since, until, isDryRun }: ReplayRequest,
  messages: readonly EventMessage[],
): Promise<number> {
  const readable = messages.flatMap(readIfEvent);
  if (readable.length === 0) return 0;
  const whole = await completeEnvelopes(
    query,
    readable.map(({ received }) => received),
  );
  const incoming = readable
    .flatMap(({ message, received }, index) => detailsIfUsable(message, whole[index] ?? received))
    .filter(
      ({ occurredAt }) => Date.parse(occurredAt) >= Date.parse(since) && Date.parse(occurredAt) <= Date.parse(until),
    );
  if (incoming.length === 0) return 0;
  const missing = new Set(await findUndelivered(query, webhookId, incoming));
  const events = incoming.filter(({ id }) => missing.has(id));
  if (events.length === 0) return 0;
  const loaded = await filters.load([...new Set(events.map(({ event }) => event))], webhookId);
  const passed = loaded.isFiltered
    ? await judgeFilters(query, loaded, events)
    : events.map(({ id }) => ({ eventId: id, webhookId }));
  if (isDryRun || passed.length === 0) return passed.length;
  await days.ensure(events.map(({ occurredAt }) => occurredAt));
  if (await isOrdered(query, webhookId))
    return fanOutOrdered(query, events, passed, { life: await readLife(), evenInactive: true });
  return fanOutPassed(query, events, passed, { evenInactive: true });
}

async function isOrdered(query: Query, webhookId: string): Promise<boolean> {
  const rows = await query({
    name: 'replay.is-ordered',
    text: `select id from system.webhooks where id = $1 and ordering <> 'none'`,
    values: [webhookId],
  });
  return rows.length > 0;
}

/** A message that is not an event was parked when it came. */
function readIfEvent(message: EventMessage): ReceivedEvent[] {
  try {
    return [readMessage(message)];
  } catch {
    return [];
  }
}

function detailsIfUsable(...[message, received]: Parameters<typeof readDetails>): IncomingEvent[] {
  try {
    return [readDetails(message, received)];
  } catch {
    return [];
  }
}
