import { type Consumer, DeliverPolicy } from '@nats-io/jetstream';
import { unavailable } from '@recordbus/errors';
import { type Bus, nats } from './bus.ts';
import { consumeMessages } from './consume-messages.ts';
import { type EventMessage, eventMessage } from './event-message.ts';
import { type EventStream, findEventStream } from './event-stream.ts';

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
  const consumer = await consumerAt(bus, stream, after + 1);
  try {
    await consumeMessages({ bus, consumer, maxMessages, take: (message) => take(eventMessage(message)), ending });
  } finally {
    remove(consumer);
  }
}

/**
 * Reads the messages from one sequence number to another, in order, without those that the stream has dropped. Throws
 * 503 when the bus does not answer.
 */
export async function* readEvents(
  bus: Bus,
  stream: EventStream,
  first: number,
  last: number,
): AsyncGenerator<EventMessage> {
  for (let next = first; next <= last; ) {
    const consumer = await consumerAt(bus, stream, next);
    const before = next;
    try {
      for await (const message of await consumer.fetch({ max_messages: last - next + 1, expires: fetchMs })) {
        next = message.seq + 1;
        yield eventMessage(message);
        if (next > last) break;
      }
    } finally {
      remove(consumer);
    }
    if (next === before) throw unavailable('the event stream does not answer');
  }
}

/**
 * Reads the messages that the stream has stored since a time, up to the newest of now, as `readEvents` does. Nothing without a
 * stream.
 */
export async function* readEventsSince(bus: Bus, stream: EventStream, since: Date): AsyncGenerator<EventMessage> {
  const last = (await findEventStream(bus, stream))?.lastSequence ?? 0;
  if (last === 0) return;
  const consumer = await bus[nats].jetstream().consumers.get(stream.name, {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: since.toISOString(),
    inactive_threshold: lostReaderMs,
  });
  try {
    const { num_pending } = await consumer.info();
    const first = num_pending === 0 ? null : await consumer.next({ expires: fetchMs });
    if (first) yield* readEvents(bus, stream, first.seq, last);
  } finally {
    remove(consumer);
  }
}

/** Creates a consumer for this process alone that begins at a sequence number. */
const consumerAt = (bus: Bus, { name }: EventStream, first: number): Promise<Consumer> =>
  bus[nats].jetstream().consumers.get(name, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: first,
    inactive_threshold: lostReaderMs,
  });

/** Does not wait: without a connection, the server removes the consumer later. */
function remove(consumer: Consumer): void {
  consumer.delete().catch(() => {});
}
