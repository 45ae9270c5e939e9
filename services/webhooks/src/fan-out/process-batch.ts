import {
  completeEnvelopes,
  type ErasedRecords,
  type EventMessage,
  type EventStream,
  webhooksConsumer,
} from '@recordbus/bus';
import { type Database, isConnectionError, isDatabaseError } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import { inSpan } from '@recordbus/process/telemetry';
import type { EventDays } from './event-days.ts';
import { fanOut, fanOutPassed, parkMessage } from './fan-out.ts';
import { fanOutOrdered, partOrdered } from './fan-out-ordered.ts';
import type { FilterPlans } from './filter-plans.ts';
import { judgeFilters } from './judge-filters.ts';
import type { OwnedMatch } from './match-owned.ts';
import type { MatchedEvents } from './matched-events.ts';
import { type IncomingEvent, type ReceivedEvent, readDetails, readMessage, UnusableMessage } from './read-message.ts';

/** The part of the fan-out that concerns webhooks with an owner. */
interface OwnersFanOut {
  findMatches(events: readonly ReceivedEvent[]): Promise<readonly OwnedMatch[]>;
  fanOut(events: readonly IncomingEvent[], matches: readonly OwnedMatch[]): Promise<number>;
  end(events: readonly ReceivedEvent[]): Promise<void>;
}

interface ProcessBatchDeps {
  readonly database: Database;
  readonly stream: EventStream;
  readonly days: EventDays;
  readonly matched: MatchedEvents;
  readonly filters: FilterPlans;
  readonly owners: OwnersFanOut;
  readonly erased: Pick<ErasedRecords, 'isErased' | 'refresh'>;
  /** Returns the stream's life. Called when deliveries are put into lanes. */
  readonly readLife: () => Promise<number>;
  readonly log: Logger;
}

const spanName = 'process events';

/** A batch's attributes, by the conventions for messaging spans (OpenTelemetry, "Messaging"). */
const ofBatch = (stream: EventStream, messages: readonly EventMessage[]) => ({
  'messaging.system': 'nats',
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
  'messaging.destination.name': stream.name,
  'messaging.consumer.group.name': webhooksConsumer,
  'messaging.batch.message_count': messages.length,
});

/** Whether a message is at fault: PostgreSQL refuses values or deeply nested JSON by the error classes 22 and 54. */
const isBadData = (error: unknown) =>
  error instanceof UnusableMessage || (isDatabaseError(error) && /^(22|54)/.test(error.code ?? ''));
const noPartition = '23514';
const freshMs = 1000;

/**
 * Creates the deliveries for a batch of messages and returns how many. A message that is not an event, or that the
 * database refuses, is parked and logged, and does not stop the others. Throws when the database does not answer.
 */
export async function processBatch(
  { database, stream, days, matched, filters, owners, erased, readLife, log }: ProcessBatchDeps,
  messages: readonly EventMessage[],
): Promise<number> {
  const { query } = database;

  async function park(message: ReceivedEvent['message'], error: unknown): Promise<void> {
    log.error({ err: error, subject: message.subject, stream_sequence: message.seq }, 'message parked: not an event');
    await parkMessage(query, message, String(error));
  }

  async function store(events: readonly ReceivedEvent[]): Promise<number> {
    const owned = await owners.findMatches(events);
    if (owned.length === 0 && !(await matched.mayBeAny(events.map(({ received }) => received.envelope.event))))
      return 0;
    const incoming = await complete(events);
    await days.ensure(incoming.map(({ occurredAt }) => occurredAt));
    const traceparent = incoming[0]?.traceparent ?? undefined;
    return inSpan(spanName, { kind: 'CONSUMER', traceparent, attributes: () => ofBatch(stream, messages) }, () =>
      create(incoming, owned),
    );
  }

  async function create(incoming: readonly IncomingEvent[], owned: readonly OwnedMatch[]): Promise<number> {
    const { made, filtered, ordered } = await fanOut(query, incoming);
    matched.note(made > 0 || filtered !== null || ordered !== null);
    const loaded = filtered && (await filters.load([...new Set(incoming.map(({ event }) => event))]));
    // A filter that has gone since judges nothing. Without it, the webhook gets its deliveries from the first statement.
    if (loaded && filtered.some((id) => !loaded.has(id))) return made + (await create(incoming, owned));
    const passed = loaded ? await judgeFilters(query, loaded, incoming) : [];
    const { inLanes, free } = ordered ? partOrdered(incoming, ordered, passed) : { inLanes: [], free: passed };
    return (
      made +
      (free.length > 0 ? await fanOutPassed(query, incoming, free) : 0) +
      (inLanes.length > 0 ? await fanOutOrdered(query, incoming, inLanes, { life: await readLife() }) : 0) +
      (await owners.fanOut(incoming, owned))
    );
  }

  /** Reads events' details, with the data that the stream only refers to. */
  async function complete(events: readonly ReceivedEvent[]): Promise<IncomingEvent[]> {
    const envelopes = events.map(({ received }) => received);
    const whole = await completeEnvelopes(query, envelopes);
    return events.map(({ message, received }, index) => readDetails(message, whole[index] ?? received));
  }

  // A notice has said in time about younger messages' records that they were erased.
  if (messages.some(({ time }) => Date.now() - time.getTime() > freshMs)) await erased.refresh();
  const readable: ReceivedEvent[] = [];
  for (const message of messages) {
    if (erased.isErased(message)) continue;
    try {
      readable.push(readMessage(message));
    } catch (error) {
      await park(message, error);
    }
  }
  if (readable.length === 0) return 0;
  await owners.end(readable);
  try {
    return await store(readable);
  } catch (error) {
    if (isConnectionError(error)) throw error;
    if (isDatabaseError(error, noPartition)) days.forget();
    if (!isBadData(error)) throw error;
  }
  let added = 0;
  for (const event of readable) {
    try {
      added += await store([event]);
    } catch (error) {
      if (!isBadData(error)) throw error;
      await park(event.message, error);
    }
  }
  return added;
}
