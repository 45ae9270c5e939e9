import type { StreamConfig } from '@nats-io/jetstream';
import type { Logger } from '@recordbus/process/logging';
import { type Bus, nats } from './bus.ts';
import { defaultSize, type EventStream, ensureStreamInfo, isOutOfStorage, streamSettings } from './event-stream.ts';
import { readBytesAtLeast } from './room/read-bytes.ts';
import { readStream } from './room/stream-reading.ts';
import { reserveOf } from './room/stream-room.ts';
import { type StreamState, streamStateOf } from './stream-state.ts';

interface UpdateOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  /** The consumers that an admin named in `events.kept_for`. */
  readonly keptFor: readonly string[];
  readonly log: Logger;
}

/**
 * Updates the stream's settings, creates it if it is missing, and returns its previous state. Only relays that hold
 * outbox partitions call it, before they publish, since other relay versions need other settings. Settings that the
 * server cannot change on an existing stream (storage, retention) stay. Shrinking drops only messages that have been
 * read. Throws JetStream's refusals, and 503 without a connection.
 */
export async function updateEventStream({ bus, stream, keptFor, log }: UpdateOptions): Promise<StreamState> {
  const info = await ensureStreamInfo(bus, stream);
  const { config } = info;
  const manager = await bus[nats].jetstreamManager();
  const reading = await readStream(bus, stream, keptFor);
  const wantedBytes = stream.maxBytes ?? Math.max(config.max_bytes, await defaultSize(manager, config.max_bytes));
  const neededBytes = reading.bytes - readBytesAtLeast(reading, bus.maxPayloadBytes());
  const maxBytes = Math.max(wantedBytes, Math.ceil(neededBytes + reserveOf(reading.bytes)));
  const settings = streamSettings(stream);
  if (!differs(config, { ...settings, max_bytes: maxBytes })) return streamStateOf(info);
  const update = (bytes: number) => manager.streams.update(stream.name, { ...settings, max_bytes: bytes });
  try {
    await update(maxBytes);
  } catch (error) {
    if (!isOutOfStorage(error)) throw error;
    log.warn({ stream: stream.name, bytes: maxBytes }, 'the bus has no room for an event stream this large');
    await update(Math.max(config.max_bytes, neededBytes)).catch((second: unknown) => {
      // A server whose limit is lower than when it made the stream refuses every change. It still stores events.
      if (!isOutOfStorage(second)) throw second;
    });
  }
  return streamStateOf(info);
}

function differs(config: StreamConfig, wanted: Partial<StreamConfig>): boolean {
  const current: Record<string, unknown> = { ...config };
  return Object.entries(wanted).some(([key, value]) => String(current[key]) !== String(value));
}
