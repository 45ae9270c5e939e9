import type { JsMsg } from '@nats-io/jetstream';

/** A message on the event stream (events §2.2). */
export interface EventMessage {
  readonly subject: string;
  /** Its number in the stream. */
  readonly seq: number;
  /** When the stream stored it. */
  readonly time: Date;
  /** The envelope's bytes; `decodeEnvelope` reads them. */
  readonly data: Uint8Array;
  /** Returns a header's value; undefined if it is missing or empty. */
  header(name: string): string | undefined;
}

/** A message that its consumer must finish: by `ack`, `retry` or `drop`. */
export interface ConsumedMessage extends EventMessage {
  /** Counts the message's deliveries, this one included. */
  readonly attempt: number;
  ack(): void;
  /** Restarts the time in which it must be finished. */
  working(): void;
  /** Returns it for another delivery, to any replica, after a delay in milliseconds. */
  retry(delayMs?: number): void;
  /** Ends its deliveries although nobody has processed it. */
  drop(): void;
}

/** Wraps the client's message. */
export const eventMessage = (message: JsMsg): EventMessage => ({
  subject: message.subject,
  seq: message.seq,
  time: message.time,
  data: message.data,
  header: (name) => message.headers?.get(name) || undefined,
});

/** Wraps the client's message for a consumer that acknowledges. */
export const consumedMessage = (message: JsMsg): ConsumedMessage => ({
  ...eventMessage(message),
  attempt: message.info.deliveryCount,
  ack: () => message.ack(),
  working: () => message.working(),
  retry: (delayMs) => message.nak(delayMs),
  drop: () => message.term(),
});
