import type { JsMsg } from '@nats-io/jetstream';
import { type Database, isConnectionError, isDatabaseError } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { inSpan, SpanKind } from '@recordbus/shared/telemetry';
import type { EventDays } from './event-days.ts';
import { fanOut, findLargeEvents, parkMessage } from './fan-out.ts';
import { type IncomingEvent, readMessage, webhookBody } from './read-message.ts';

interface HandOutDeps {
  readonly database: Database;
  readonly days: EventDays;
  readonly log: Logger;
}

/** A value that PostgreSQL can't take, or a text nested too deep: classes 22 and 54. */
const isBadData = (error: unknown) => isDatabaseError(error) && /^(22|54)/.test(error.code ?? '');
const noPartition = '23514';

/**
 * Makes the deliveries of a batch of messages and tells how many there are. A message that is no event, or whose
 * content the database refuses, is parked and logged and never in the way of the others. Throws when the database is
 * away.
 */
export async function handOut({ database, days, log }: HandOutDeps, messages: readonly JsMsg[]): Promise<number> {
  const { query } = database;

  async function park(message: JsMsg, error: unknown): Promise<void> {
    log.error({ err: error, subject: message.subject, stream_sequence: message.seq }, 'a message was parked');
    await parkMessage(query, message, String(error));
  }

  async function store(events: readonly IncomingEvent[]): Promise<number> {
    await days.ensure(events.map(({ occurredAt }) => occurredAt));
    const traceparent = events[0]?.traceparent ?? undefined;
    return inSpan('fan out', { kind: SpanKind.CONSUMER, traceparent }, async () =>
      fanOut(query, await complete(events)),
    );
  }

  /** Fetches what went over the bus as a reference. */
  async function complete(events: readonly IncomingEvent[]): Promise<IncomingEvent[]> {
    const references = events.filter(({ isReference }) => isReference).map(({ id }) => id);
    const large = references.length > 0 ? await findLargeEvents(query, references) : new Map<string, string>();
    return events.map((event) => {
      const text = large.get(event.id);
      return text ? { ...event, body: webhookBody(text) } : event;
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
  let made = 0;
  for (const { message, event } of readable) {
    try {
      made += await store([event]);
    } catch (error) {
      if (!isBadData(error)) throw error;
      await park(message, error);
    }
  }
  return made;
}
