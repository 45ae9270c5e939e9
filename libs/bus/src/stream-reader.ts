import { DeliverPolicy } from '@nats-io/jetstream';
import { unavailable } from '@recordbus/errors';
import { type Bus, nats } from './bus.ts';
import { consumeMessages } from './consume-messages.ts';
import { type EventMessage, eventMessage } from './event-message.ts';
import type { EventStream } from './event-stream.ts';

interface FollowOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  /** The sequence number after which it reads. */
  readonly after: number;
  /** Called with one message at a time. Must not throw. */
  readonly take: (message: EventMessage) => void;
  readonly ending: AbortSignal;
}

const maxMessages = 1000;
/** After this time the server forgets a reader whose connection is lost. */
const lostReaderMs = 30_000;
const fetchMs = 5000;

/**
 * Reads the stream in order, for this process alone, until `ending` aborts. Also returns when the bus is silent, and at
 * a new connection. Throws when the bus or the stream is gone.
 */
export async function followEvents({ bus, stream, after, take, ending }: FollowOptions): Promise<void> {
  const consumer = await bus[nats].jetstream().consumers.get(stream.name, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
    inactive_threshold: lostReaderMs,
  });
  try {
    await consumeMessages({ bus, consumer, maxMessages, take: (message) => take(eventMessage(message)), ending });
  } finally {
    // Not awaited: without a connection, the server ends it after the time above.
    consumer.delete().catch(() => {});
  }
}

/**
 * Reads the messages from one sequence number to another, in order, without those that the stream has dropped. Throws
 * 503 when the bus does not answer.
 */
export async function* readEvents(
  bus: Bus,
  { name }: EventStream,
  first: number,
  last: number,
): AsyncGenerator<EventMessage> {
  for (let next = first; next <= last; ) {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: next };
    const consumer = await bus[nats].jetstream().consumers.get(name, start);
    const before = next;
    for await (const message of await consumer.fetch({ max_messages: last - next + 1, expires: fetchMs })) {
      next = message.seq + 1;
      yield eventMessage(message);
      if (next > last) break;
    }
    if (next === before) throw unavailable('the event stream does not answer');
  }
}
