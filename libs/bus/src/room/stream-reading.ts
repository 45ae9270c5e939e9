import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, nats } from '../bus.ts';
import { type ConsumerState, getConsumer } from '../consumer-state.ts';
import type { EventStream } from '../event-stream.ts';
import { type StreamState, streamStateOf } from '../stream-state.ts';

/** A consumer that the stream keeps messages for, and its position. */
export interface Reader {
  readonly name: string;
  /** Messages are also kept for a consumer that does not exist, and for one whose servers are down. */
  readonly position: 'known' | 'missing' | 'unknown';
  /** The highest sequence up to which it has acknowledged all its messages; 0 when its position is not known. */
  readonly readUpTo: number;
}

/** The stream's state at one moment, and its readers' positions. */
export interface StreamReading extends StreamState {
  readonly readers: readonly Reader[];
  /** The lowest sequence that a reader still needs; one above the last when all is read. */
  readonly unreadFrom: number;
}

/** The name of the webhooks service's consumer. */
export const webhooksConsumer = 'webhooks';
/** Names of after hooks' consumers begin with this. */
export const hookConsumerPrefix = 'extension-';

/** How long a consumer may take to tell its position, in milliseconds. */
const positionMs = 2000;

/**
 * Reads the stream's state and its readers': the webhooks service, the extensions' after hooks that have a consumer,
 * and the consumers that an admin named. Throws JetStream's refusals, and 503 without a connection.
 */
export async function readStream(bus: Bus, stream: EventStream, named: readonly string[]): Promise<StreamReading> {
  const { streams } = await bus[nats].jetstreamManager();
  const [info, names] = await Promise.all([streams.info(stream.name), bus[nats].consumerNames(stream.name)]);
  const state = streamStateOf(info);
  const existing = new Set(names);
  const hooks = [...existing].filter((consumer) => consumer.startsWith(hookConsumerPrefix));
  const wanted = [...new Set([webhooksConsumer, ...hooks, ...named])];
  // Positions are read after the stream, so that a consumer with nothing left has read at least up to `last_seq`.
  const readers = await Promise.all(
    wanted.map((consumer) =>
      existing.has(consumer)
        ? findReader(getConsumer(bus, stream, consumer), consumer, state)
        : ({ name: consumer, position: 'missing', readUpTo: 0 } as const),
    ),
  );
  return withReaders(readers, state);
}

/** Returns the reading without the readers whose position nobody knows. */
export const knownPart = (reading: StreamReading): StreamReading =>
  withReaders(
    reading.readers.filter(({ position }) => position !== 'unknown'),
    reading,
  );

function withReaders(readers: readonly Reader[], state: StreamState): StreamReading {
  const readUpTo = Math.min(state.lastSequence, ...readers.map((reader) => reader.readUpTo));
  return { ...state, readers, unreadFrom: Math.max(readUpTo + 1, state.firstSequence) };
}

/**
 * Finds a consumer's position. While the servers that hold it are down, nobody knows it: the stream then keeps
 * everything for it, which harms nothing as long as the stream is not full.
 */
async function findReader(
  question: Promise<ConsumerState>,
  name: string,
  { lastSequence }: StreamState,
): Promise<Reader> {
  const late = sleep(positionMs, undefined, { ref: false });
  const consumer = await Promise.race([question, late]).catch(() => undefined);
  if (!consumer) return { name, position: 'unknown', readUpTo: 0 };
  // A consumer with a rare subject has an old position although it has nothing left to read.
  const isDone = consumer.waiting + consumer.inProgress === 0;
  return { name, position: 'known', readUpTo: isDone ? lastSequence : consumer.readUpTo };
}

/** Returns how many messages a reader still needs. */
export const unreadMessages = ({ lastSequence, unreadFrom }: StreamReading): number =>
  Math.max(0, lastSequence + 1 - unreadFrom);
