import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from '../bus.ts';
import { type EventStream, findEventStream } from '../event-stream.ts';
import type { RoomGrants } from '../room/room-grants.ts';
import { holdersOf } from '../room/room-report.ts';
import { createStreamRoom } from '../room/stream-room.ts';
import { beginStreamLife } from '../stream-life.ts';
import { updateEventStream } from '../update-event-stream.ts';
import { createFullnessLog } from './fullness-log.ts';
import { publishRound } from './outbox-round.ts';
import { lastPublished, type Partitions, republishAfter } from './outbox-store.ts';

/** Publishes the outbox events on a stream that it has verified. */
interface OutboxPublisher {
  /**
   * Publishes a round. Returns 0, which runs the next round at once, if events and room for them are left. Throws if
   * the bus or the database fails.
   */
  publish(): Promise<number | undefined>;
  /** Verifies the stream again before the next event. Call it when this process takes partitions. */
  distrust(): void;
}

interface PublisherOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly stream: EventStream;
  /** Consumers, in addition to the product's own, that must have read an event before the stream may drop it. */
  readonly keptFor: () => readonly string[];
  readonly grants: RoomGrants;
  /** The partitions that this process may publish. Called before every event. */
  readonly partitions: () => Partitions;
}

const unverified = { generation: 0, lastSequence: 0 };

/** Creates the publisher for a process that publishes while it holds partitions. */
export function createOutboxPublisher(options: PublisherOptions): OutboxPublisher {
  const { database, bus, log, stream, keptFor, grants, partitions } = options;
  const room = createStreamRoom({ bus, stream, keptFor, grants });
  const fullness = createFullnessLog(log, stream);
  /** The connection on which the stream was verified, and its highest sequence number then. */
  let verified = unverified;

  const mayPublish = (partition: number) =>
    partitions().held.includes(partition) && bus.connected && bus.generation === verified.generation;

  /**
   * Verifies the stream before the first event on a new connection, and before the first from partitions that this
   * process has taken.
   */
  async function verifyStream(): Promise<void> {
    const { generation } = bus;
    // Read before the stream: other relays publish meanwhile, and their new events are not lost.
    const published = await lastPublished(database.query);
    const { life, lastSequence } = await updateEventStream({ bus, stream, keptFor: keptFor(), log });
    if (published > lastSequence) {
      // This comes before the events are marked as unpublished: only their marks show the loss.
      await beginStreamLife(bus, stream, life);
      const lost = await republishAfter(database.query, lastSequence);
      log.warn({ events: lost, stream: stream.name }, 'the stream lost events, publishing them again');
    }
    await room.look();
    verified = { generation, lastSequence };
  }

  async function publishNext(): Promise<number | undefined> {
    if (verified.generation !== bus.generation) await verifyStream();
    const reading = room.isLow ? await room.look() : undefined;
    const { lastSequence: knownSequence } = verified;
    const round = await publishRound({
      database,
      bus,
      log,
      subjectPrefix: stream.prefix,
      knownSequence,
      partitions: partitions(),
      mayPublish,
      room,
      async onReplaced() {
        const found = await findEventStream(bus, stream);
        if (found) await beginStreamLife(bus, stream, found.life);
      },
    });
    if (round.busFailure) throw round.busFailure;
    if (round.lastSequence > 0) verified = { ...verified, lastSequence: round.lastSequence };
    // A new check found no room, so the readers must advance first. The next lease renewal checks again.
    const isFull = round.noRoom && round.lastSequence === 0 && reading !== undefined;
    if (isFull) fullness.full(holdersOf(reading));
    else if (!round.noRoom) fullness.over();
    return !isFull && (round.more || round.noRoom) ? 0 : undefined;
  }

  const distrust = () => {
    verified = unverified;
  };

  return {
    distrust,
    async publish() {
      try {
        return await publishNext();
      } catch (error) {
        distrust();
        throw error;
      }
    },
  };
}
