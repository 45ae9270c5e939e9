import type { ConsumerInfo, StreamInfo } from '@nats-io/jetstream';
import type { Bus } from '../bus.ts';
import type { EventStream } from '../event-stream.ts';

/** A consumer that the stream keeps messages for, and its position. */
export interface Reader {
  readonly name: string;
  /** Whether it does not exist, although messages are kept for it. */
  readonly isMissing: boolean;
  /** The highest sequence up to which it has acknowledged all its messages; 0 when it is missing. */
  readonly readUpTo: number;
}

/** The state of the stream at one moment, and the positions of its readers. */
export interface StreamReading {
  readonly maxBytes: number;
  readonly bytes: number;
  readonly messages: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** When its oldest message was stored; undefined when it is empty. */
  readonly oldestAt: Date | undefined;
  readonly createdAt: Date;
  readonly readers: readonly Reader[];
  /** The lowest sequence that a reader still needs; one above the last when all is read. */
  readonly unreadFrom: number;
}

/** The name of the webhooks service's consumer. */
export const webhooksConsumer = 'webhooks';
/** The prefix of the names of after hooks' consumers. */
export const hookConsumerPrefix = 'extension-';

/**
 * Reads the state of the stream and of its readers: the webhooks service, the after hooks of extensions that have a
 * consumer, and the consumers that an admin named. Throws JetStream's refusals, and 503 without a connection.
 */
export async function readStream(bus: Bus, { name }: EventStream, named: readonly string[]): Promise<StreamReading> {
  const manager = await bus.jetstreamManager();
  // The stream is read before its consumers, so that a consumer with nothing left has read at least up to `last_seq`.
  const info = await manager.streams.info(name);
  const consumers: ConsumerInfo[] = [];
  for await (const consumer of manager.consumers.list(name)) consumers.push(consumer);
  return readingOf(info, consumers, named);
}

/** Computes the reading from the server's answers. */
export function readingOf(
  { config, state, created }: Pick<StreamInfo, 'config' | 'state' | 'created'>,
  consumers: readonly Pick<ConsumerInfo, 'name' | 'ack_floor' | 'num_pending' | 'num_ack_pending'>[],
  named: readonly string[],
): StreamReading {
  const found = new Map(consumers.map((consumer) => [consumer.name, consumer]));
  const hooks = [...found.keys()].filter((name) => name.startsWith(hookConsumerPrefix));
  const readers = [...new Set([webhooksConsumer, ...hooks, ...named])].map((name): Reader => {
    const consumer = found.get(name);
    if (!consumer) return { name, isMissing: true, readUpTo: 0 };
    // A consumer with a rare subject has an old position although it has nothing left to read.
    const isDone = consumer.num_pending === 0 && consumer.num_ack_pending === 0;
    return { name, isMissing: false, readUpTo: isDone ? state.last_seq : consumer.ack_floor.stream_seq };
  });
  const readUpTo = Math.min(...readers.map((reader) => reader.readUpTo));
  return {
    maxBytes: config.max_bytes,
    bytes: state.bytes,
    messages: state.messages,
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
    oldestAt: state.messages > 0 ? new Date(state.first_ts) : undefined,
    createdAt: new Date(created),
    readers,
    unreadFrom: Math.max(readUpTo + 1, state.first_seq),
  };
}

/** Returns the number of messages that a reader still needs. */
export const unreadMessages = ({ lastSequence, unreadFrom }: StreamReading): number =>
  Math.max(0, lastSequence + 1 - unreadFrom);
