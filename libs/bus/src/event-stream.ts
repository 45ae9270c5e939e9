import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { unavailable } from '@recordbus/errors';
import { type Bus, nats } from './bus.ts';
import { minDefaultBytes, shareOfFree } from './event-stream-size.ts';
import { type StreamState, streamStateOf } from './stream-state.ts';

/** The event stream. Tests use another name and prefix to keep their events apart. */
export interface EventStream {
  readonly name: string;
  /** The first token in its subjects. */
  readonly prefix: string;
  /** Its size. Without a value a new stream gets a share of the account's limit, and an existing one keeps its size. */
  readonly maxBytes?: number | undefined;
}

export const eventStream: EventStream = { name: 'EVENTS', prefix: 'events' };

/** How long the stream keeps an event, in milliseconds. */
export const eventsKeptForMs = 7 * 24 * 3600 * 1000;

/** The stream's replicas in a cluster: the lowest number that survives the loss of any one server. */
export const clusterReplicas = 3;

const minSizeBytes = 1024 ** 2;

const streamNotFound = 10059;
const streamNameInUse = 10058;
const noStorageLeft = 10047;
const tooFewServers = 10005;

/** How long a new cluster's servers may take to find each other, in milliseconds. */
const clusterPatienceMs = 30_000;

/**
 * Returns the stream's state; undefined when it does not exist. Throws JetStream's refusals, and 503 without a
 * connection.
 */
export async function findEventStream(bus: Bus, stream: EventStream): Promise<StreamState | undefined> {
  const info = await findStreamInfo(bus, stream);
  return info && streamStateOf(info);
}

/** Returns the stream's state; creates it as `ensureStreamInfo` does. */
export const ensureEventStream = async (bus: Bus, stream: EventStream): Promise<StreamState> =>
  streamStateOf(await ensureStreamInfo(bus, stream));

/** Returns the server's answer about the stream, as `findEventStream` does. */
async function findStreamInfo(bus: Bus, { name }: EventStream): Promise<StreamInfo | undefined> {
  const { streams } = await bus[nats].jetstreamManager();
  return streams.info(name).catch((error) => {
    if (isRefusal(error, streamNotFound)) return undefined;
    throw error;
  });
}

/**
 * Returns the server's answer about the stream; creates the stream when it is missing. Replicas may call it concurrently. It does
 * not change an existing stream: only the relay that publishes does (update-event-stream.ts). Throws JetStream's
 * refusals, and 503 without a connection.
 */
export async function ensureStreamInfo(bus: Bus, stream: EventStream): Promise<StreamInfo> {
  const found = await findStreamInfo(bus, stream);
  if (found) return found;
  const manager = await bus[nats].jetstreamManager();
  try {
    return await createWithRoom(bus, stream, stream.maxBytes ?? (await defaultSize(manager)));
  } catch (error) {
    // Another replica was faster.
    if (isRefusal(error, streamNameInUse)) return manager.streams.info(stream.name);
    throw error;
  }
}

/**
 * Returns every event stream's settings. A full stream drops its oldest messages when it stores new ones; the relay
 * publishes only when those have been read (room/stream-room.ts). Once purging is denied, the server cannot allow it
 * again.
 */
export const streamSettings = ({ prefix }: EventStream) => ({
  subjects: [`${prefix}.>`],
  discard: DiscardPolicy.Old,
  max_age: nanos(eventsKeptForMs),
  duplicate_window: nanos(120_000),
  deny_delete: true,
  deny_purge: true,
  allow_direct: true,
});

/** Whether JetStream is on for this account. Throws JetStream's refusals, and 503 without a connection. */
export async function hasJetStream(bus: Bus): Promise<boolean> {
  const manager = await bus[nats].jetstreamManager();
  try {
    await manager.getAccountInfo();
    return true;
  } catch (error) {
    // The client does not export the error's class.
    if (error instanceof Error && error.name === 'JetStreamNotEnabled') return false;
    throw error;
  }
}

/** Whether the error is JetStream's refusal with this code. */
const isRefusal = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code;

/** Whether JetStream refuses because the disk, the server's limit or the account's limit is full. */
export const isOutOfStorage = (error: unknown): boolean => isRefusal(error, noStorageLeft);

/**
 * Returns the default size: a fifth of the account's free bytes, counting `ownBytes` as free; 1 GiB without a limit.
 */
export async function defaultSize(manager: JetStreamManager, ownBytes = 0): Promise<number> {
  const { limits, reserved_storage } = await manager.getAccountInfo();
  if (limits.max_storage <= 0) return minDefaultBytes;
  return shareOfFree(limits.max_storage - (reserved_storage ?? 0) + ownBytes);
}

/** Creates the stream; halves the size until the server has room for it. */
async function createWithRoom(bus: Bus, stream: EventStream, maxBytes: number): Promise<StreamInfo> {
  const manager = await bus[nats].jetstreamManager();
  const create = (replicas: number) =>
    manager.streams.add({
      ...streamSettings(stream),
      name: stream.name,
      max_bytes: maxBytes,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: replicas,
    });
  try {
    return await create(clusterReplicas).catch((error) => {
      // In a cluster that starts, the third server comes soon. A stream that gets its replicas later is less safe.
      if (isRefusal(error, tooFewServers) && bus.connectedForMs < clusterPatienceMs)
        throw unavailable('the event stream waits for three NATS cluster servers', error);
      // A single server refuses three replicas. The relay adds them when there are three servers
      // (grow-event-stream.ts).
      if (error instanceof JetStreamApiError) return create(1);
      throw error;
    });
  } catch (error) {
    if (!isOutOfStorage(error) || maxBytes < 2 * minSizeBytes) throw error;
    return createWithRoom(bus, stream, Math.floor(maxBytes / 2));
  }
}
