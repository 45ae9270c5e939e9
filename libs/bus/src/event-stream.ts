import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType, type StreamInfo } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { Bus } from './bus.ts';
import { defaultStreamBytes } from './event-stream-size.ts';

/** The stream that events go to. Another name and prefix keep a test's events apart from everybody else's. */
export interface EventStream {
  readonly name: string;
  /** First token of its subjects. */
  readonly prefix: string;
  /** When it is full the stream takes nothing more (writes go on, the outbox holds). */
  readonly maxBytes: number;
}

export const eventStream: EventStream = { name: 'EVENTS', prefix: 'events', maxBytes: defaultStreamBytes };

/** How long the stream keeps an event, in milliseconds. */
export const eventsKeptForMs = 7 * 24 * 3600 * 1000;

const streamNotFound = 10059;

/**
 * Creates the stream or brings its settings up to date (contract §6), and tells its state. Any number of replicas may
 * do this at once. What the server can't change on an existing stream (storage, retention) is left as it is.
 * Throws what JetStream refuses, and 503 while there is no connection.
 */
export async function ensureEventStream(bus: Bus, { name, prefix, maxBytes }: EventStream): Promise<StreamInfo> {
  const { streams } = await bus.jetstreamManager();
  const wanted = {
    subjects: [`${prefix}.>`],
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
    max_age: nanos(eventsKeptForMs),
    duplicate_window: nanos(120_000),
    deny_delete: true,
    deny_purge: true,
    allow_direct: true,
  };
  const found = await streams.info(name).catch((error) => {
    if (error instanceof JetStreamApiError && error.code === streamNotFound) return undefined;
    throw error;
  });
  if (found) {
    const current: Record<string, unknown> = { ...found.config };
    const differs = Object.entries(wanted).some(([key, value]) => String(current[key]) !== String(value));
    return differs ? streams.update(name, wanted) : found;
  }
  const create = (replicas: number) =>
    streams.add({
      ...wanted,
      name,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: replicas,
    });
  // A single server refuses three replicas, and a cluster with fewer than three servers can't place them.
  return create(3).catch((error) => {
    if (error instanceof JetStreamApiError) return create(1);
    throw error;
  });
}
