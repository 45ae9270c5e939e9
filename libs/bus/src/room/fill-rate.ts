import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type Bus, nats } from '../bus.ts';
import type { EventStream } from '../event-stream.ts';
import { type StreamReading, unreadMessages } from './stream-reading.ts';

const hourMs = 3600 * 1000;
/** The time over which the rate is measured. */
const measuredMs = 3 * hourMs;
/** A younger stream counts as this old, so that a first import does not count as the usual rate. */
const minAgeMs = hourMs;

/** Measures the bytes per second that were published in the last three hours. */
export async function measureFillRate(bus: Bus, { name }: EventStream, reading: StreamReading): Promise<number> {
  if (reading.messages === 0) return 0;
  const nowMs = Date.now();
  const { consumers } = await bus[nats].jetstreamManager();
  // A consumer that starts at that time knows how many messages it has.
  const consumer = await consumers.add(name, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(nowMs - measuredMs).toISOString(),
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(10_000),
  });
  await consumers.delete(name, consumer.name);
  const timeMs = Math.min(measuredMs, Math.max(minAgeMs, nowMs - reading.createdAt.getTime()));
  return (consumer.num_pending * (reading.bytes / reading.messages)) / (timeMs / 1000);
}

const maxRoomSec = 365 * 24 * 3600;

/**
 * Returns the seconds until publishing would have to wait if every reader stopped now: the part of the stream that
 * holds no unread messages, divided by the rate in bytes per second. At most a year.
 */
export function secondsOfRoom(reading: StreamReading, bytesPerSec: number): number {
  const { bytes, messages, maxBytes } = reading;
  const unreadBytes = messages === 0 ? 0 : bytes * (unreadMessages(reading) / messages);
  const leftBytes = Math.max(0, maxBytes - unreadBytes);
  return bytesPerSec > 0 ? Math.min(maxRoomSec, leftBytes / bytesPerSec) : maxRoomSec;
}
