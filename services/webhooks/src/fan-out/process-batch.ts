import type { JsMsg } from '@nats-io/jetstream';
import { completeEnvelopes } from '@recordbus/bus';
import { type Database, isConnectionError, isDatabaseError } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { inSpan } from '@recordbus/shared/telemetry';
import type { EventDays } from './event-days.ts';
import { fanOut, parkMessage } from './fan-out.ts';
import type { MatchedEvents } from './matched-events.ts';
import { type IncomingEvent, readMessage, webhookBody } from './read-message.ts';

interface ProcessBatchDeps {
  readonly database: Database;
  readonly days: EventDays;
  readonly matched: MatchedEvents;
  readonly log: Logger;
}

/** Whether PostgreSQL refused a value or deeply nested JSON: error classes 22 and 54. */
const isBadData = (error: unknown) => isDatabaseError(error) && /^(22|54)/.test(error.code ?? '');
const noPartition = '23514';

/**
 * Creates the deliveries of a batch of messages and returns their number. A message that is not an event, or that the
 * database refuses, is parked and logged, and does not stop the others. Throws when the database does not answer.
 */
export async function processBatch(
  { database, days, matched, log }: ProcessBatchDeps,
  messages: readonly JsMsg[],
): Promise<number> {
  const { query } = database;

  async function park(message: JsMsg, error: unknown): Promise<void> {
    log.error({ err: error, subject: message.subject, stream_sequence: message.seq }, 'message parked: not an event');
    await parkMessage(query, message, String(error));
  }

  async function store(events: readonly IncomingEvent[]): Promise<number> {
    if (!(await matched.mayBeAny(events.map(({ event }) => event)))) return 0;
    await days.ensure(events.map(({ occurredAt }) => occurredAt));
    const traceparent = events[0]?.traceparent ?? undefined;
    const made = await inSpan('fan out', { kind: 'CONSUMER', traceparent }, async () =>
      fanOut(query, await complete(events)),
    );
    matched.note(made);
    return made;
  }

  /** Fetches the data of events that the stream only refers to. */
  async function complete(events: readonly IncomingEvent[]): Promise<IncomingEvent[]> {
    const received = events.map(({ received }) => received);
    const whole = await completeEnvelopes(query, received);
    return events.map((event, index) => {
      const complete = whole[index];
      return !complete || complete === event.received ? event : { ...event, body: webhookBody(complete.text) };
    });
  }

  const readable: { message: JsMsg; event: IncomingEvent }[] = [];
  for (const message of messages) {
    try {
      readable.push({ message, event: readMessage(message) });
    } catch (error) {
      await park(message, error);
    }
  }
  if (readable.length === 0) return 0;
  try {
    return await store(readable.map(({ event }) => event));
  } catch (error) {
    if (isConnectionError(error)) throw error;
    if (isDatabaseError(error, noPartition)) days.forget();
    if (!isBadData(error)) throw error;
  }
  let added = 0;
  for (const { message, event } of readable) {
    try {
      added += await store([event]);
    } catch (error) {
      if (!isBadData(error)) throw error;
      await park(message, error);
    }
  }
  return added;
}
