import { cutMembers, type DecodedEnvelope, decodeEnvelope, type EventMessage } from '@recordbus/bus';

/** An event read from the stream. */
export interface ReceivedEvent {
  readonly message: EventMessage;
  /** The decoded message. It may only refer to its data. */
  readonly received: DecodedEnvelope;
}

/** An event as deliveries need it. */
export interface IncomingEvent {
  readonly id: string;
  readonly event: string;
  /** The body that webhooks receive. */
  readonly body: string;
  /** When it happened, RFC 3339; the same at every redelivery. */
  readonly occurredAt: string;
  readonly traceparent: string | null;
  /** The record's id; null for other events. */
  readonly recordId: string | null;
  /** Its number in the stream. */
  readonly sequence: number;
  readonly storedAtMs: number;
  readonly received: DecodedEnvelope;
}

/** The message is an event that cannot be delivered; the error's message says why. */
export class UnusableMessage extends Error {
  override name = 'UnusableMessage';
}

const dayMs = 24 * 3600 * 1000;
/** An older time is ignored, since it would need its own partition. */
const oldestMs = 30 * dayMs;

/** Reads a stream message. Throws for one that is not an event (libs/bus, envelope). */
export function readMessage(message: EventMessage): ReceivedEvent {
  const received = decodeEnvelope(message.data);
  const { event } = received.envelope;
  if (event.includes('\0') || !event.isWellFormed()) throw new Error('the event name is not text');
  return { message, received };
}

/**
 * Reads what deliveries need, from the complete envelope. It costs more than `readMessage`, and most events have no
 * webhook. Throws UnusableMessage.
 */
export function readDetails(message: EventMessage, received: DecodedEnvelope): IncomingEvent {
  const { id, event, collection } = received.envelope;
  try {
    return {
      id,
      event,
      body: webhookBody(received.text),
      occurredAt: readTime(message),
      traceparent: message.header('traceparent') ?? null,
      recordId: collection === undefined ? null : recordIdOf(message),
      sequence: message.seq,
      storedAtMs: message.time.getTime(),
      received,
    };
  } catch (error) {
    throw new UnusableMessage(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/**
 * Returns the body that is signed and sent (webhooks §3.3). Its members are copied from the envelope's text, so numbers
 * keep every digit. Only record events have a `version`, and only a batch's events a `batch`.
 */
function webhookBody(envelopeText: string): string {
  const members = cutMembers(envelopeText);
  const member = (name: string) => `"${name}":${members.get(name) ?? 'null'}`;
  const some = ['version', 'batch'].filter((name) => members.has(name));
  return `{${['id', 'event', 'timestamp', ...some, 'data'].map(member).join(',')}}`;
}

/** Returns the id in `ce-subject`, which is `<collection>/<id>` (events §2.3). */
const recordIdOf = ({ header }: EventMessage): string | null => header('ce-subject')?.split('/').at(-1) || null;

/** Returns the publisher's time, in microseconds, or else the time at which the stream received the message. */
function readTime({ header, time }: EventMessage): string {
  const stated = header('ce-time') ?? '';
  const ageMs = time.getTime() - Date.parse(stated);
  return ageMs > -dayMs && ageMs < oldestMs ? stated : time.toISOString();
}
