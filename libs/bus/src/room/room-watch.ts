import { JetStreamApiError } from '@nats-io/jetstream';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';
import { type Bus, nats } from '../bus.ts';
import { type EventStream, eventsKeptForMs } from '../event-stream.ts';
import { measureFillRate, secondsOfRoom } from './fill-rate.ts';
import { noGrants } from './room-grants.ts';
import { problemOf, type RoomReport } from './room-report.ts';
import { knownPart, type StreamReading, unreadMessages } from './stream-reading.ts';
import { createStreamRoom } from './stream-room.ts';

/** Watches the stream for operators. */
export interface RoomWatch {
  /** Returns a report that is at most ten seconds old. Throws when the bus does not answer or has no stream yet. */
  report(): Promise<RoomReport>;
}

interface RoomWatchOptions {
  readonly bus: Bus;
  readonly stream: EventStream;
  /** The consumers that an admin named in `events.kept_for`. */
  readonly keptFor: () => readonly string[];
}

const reportForMs = 10_000;
const rateForMs = 300_000;

/** Creates this process's watch. It asks the bus at most once in ten seconds. */
export function createRoomWatch({ bus, stream, keptFor }: RoomWatchOptions): RoomWatch {
  const room = createStreamRoom({ bus, stream, keptFor, grants: noGrants });
  let rate = { bytesPerSec: 0, untilMs: 0 };
  let cached: Promise<RoomReport> | undefined;

  async function look(): Promise<RoomReport> {
    const reading = await room.look();
    if (performance.now() >= rate.untilMs)
      rate = {
        bytesPerSec: await measureFillRate(bus, stream, reading),
        untilMs: performance.now() + rateForMs,
      };
    // A consumer does not answer for some seconds while its servers choose a leader. That alone is not a problem yet.
    const known = knownPart(reading);
    const roomSec = room.isFull ? 0 : secondsOfRoom(known, rate.bytesPerSec);
    return { reading, isFull: room.isFull, roomSec, ageLeftSec: await ageLeftOf(bus, stream, known) };
  }

  return {
    report() {
      cached ??= look().finally(() => setTimeout(forget, reportForMs).unref());
      return cached;
    },
  };

  function forget(): void {
    cached = undefined;
  }
}

/** Returns the seconds until the first unread message reaches the stream's age limit. */
async function ageLeftOf(bus: Bus, { name }: EventStream, reading: StreamReading): Promise<number | undefined> {
  if (unreadMessages(reading) === 0) return undefined;
  const { streams } = await bus[nats].jetstreamManager();
  const message = await streams.getMessage(name, { seq: reading.unreadFrom });
  return message ? (eventsKeptForMs - (Date.now() - message.time.getTime())) / 1000 : undefined;
}

/**
 * Checks the stream's room for `GET /readyz`. Throws an error that describes the problem. A bus that is down and a
 * stream that does not exist yet pass; other checks cover them.
 */
export async function checkRoom(bus: Bus, watch: RoomWatch): Promise<void> {
  if (!bus.connected) return;
  const report = await watch.report().catch((error) => {
    if (error instanceof JetStreamApiError) return undefined;
    throw error;
  });
  const problem = report && problemOf(report);
  if (problem !== undefined) throw new Error(problem);
}

/** Registers the metrics for the stream's room. */
export function addStreamGauges(metrics: Metrics, watch: RoomWatch): void {
  const gauge = (name: string, help: string, read: (report: RoomReport) => number) =>
    sampledGauge(metrics, { name, help, isShared: true, sample: async () => read(await watch.report()) });
  gauge('recordbus_stream_bytes', 'Bytes in the event stream.', ({ reading }) => reading.bytes);
  gauge('recordbus_stream_max_bytes', "The event stream's size limit in bytes.", ({ reading }) => reading.maxBytes);
  gauge('recordbus_stream_unread', 'Events that the reader furthest behind has not read.', ({ reading }) =>
    unreadMessages(reading),
  );
  gauge('recordbus_stream_full', '1 while events wait because a reader needs the oldest.', ({ isFull }) =>
    Number(isFull),
  );
  gauge(
    'recordbus_stream_room_seconds',
    'Time until events would wait or be dropped unread if all readers stopped now, at the rate of the last three hours.',
    ({ roomSec, ageLeftSec = roomSec }) => Math.max(0, Math.min(roomSec, ageLeftSec)),
  );
}
