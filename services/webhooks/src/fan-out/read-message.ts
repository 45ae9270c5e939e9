import type { JsMsg } from '@nats-io/jetstream';
import { cutMembers, envelope } from '@recordbus/bus';

/** An event as it came off the stream. */
export interface IncomingEvent {
  readonly id: string;
  readonly event: string;
  /** What webhooks are sent. */
  readonly body: string;
  /** RFC 3339: when it happened, the same at every redelivery. */
  readonly occurredAt: string;
  readonly traceparent: string | null;
  /** The body is without its data; the whole envelope is in `system.large_events`. */
  readonly isReference: boolean;
}

type Message = Pick<JsMsg, 'data' | 'headers' | 'time'>;

const dayMs = 24 * 3600 * 1000;
/** A time further away than this is not believed; it would need a partition of its own. */
const oldestMs = 30 * dayMs;

/** Reads a message of the stream. Throws for one that is no event (libs/bus, envelope). */
export function readMessage(message: Message): IncomingEvent {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(message.data);
  const { id, event, reference } = envelope.parse(JSON.parse(text));
  if (event.includes('\0') || !event.isWellFormed()) throw new Error('the name of the event is not text');
  return {
    id,
    event,
    body: webhookBody(text),
    occurredAt: readTime(message),
    traceparent: message.headers?.get('traceparent') || null,
    isReference: reference !== undefined,
  };
}

/** The text that is signed and sent (interface §6.2), cut out of the envelope's so that every digit stays. */
export function webhookBody(envelopeText: string): string {
  const members = cutMembers(envelopeText);
  const member = (name: string) => `"${name}":${members.get(name) ?? 'null'}`;
  return `{${['id', 'event', 'timestamp', 'data'].map(member).join(',')}}`;
}

/** The time that the publisher states to the microsecond, else when the stream took the message. */
function readTime({ headers, time }: Message): string {
  const stated = headers?.get('ce-time') ?? '';
  const ageMs = time.getTime() - Date.parse(stated);
  return ageMs > -dayMs && ageMs < oldestMs ? stated : time.toISOString();
}
