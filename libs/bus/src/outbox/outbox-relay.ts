import { createLease, type Database } from '@recordbus/database';
import { every, skipped, whenWoken } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import type { Bus } from '../bus.ts';
import { type EventStream, eventStream } from '../event-stream.ts';
import { holdersOf } from '../room/room-report.ts';
import { createStreamRoom } from '../room/stream-room.ts';
import { updateEventStream } from '../update-event-stream.ts';
import { createFullnessLog } from './fullness-log.ts';
import { publishRound } from './outbox-round.ts';
import { removeLargeEvents, removePublished, republishAfter } from './outbox-store.ts';

/**
 * Publishes the events of the outbox to the stream. Every process that writes events runs a relay, and one of them at a
 * time does the work. This keeps the events of each record in commit order on the stream, whichever replicas wrote
 * them.
 */
export interface OutboxRelay {
  start(): void;
  /** Finishes the round under way and lets another process take over. */
  stop(): Promise<void>;
  /** Call it after a commit that wrote events. Never waits, never throws. */
  wake(): void;
}

interface OutboxRelayOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly stream?: EventStream;
  /** Further consumers that must have read an event before the stream may drop it, besides the product's own. */
  readonly keptFor?: () => readonly string[];
}

const leaseLifetimeMs = 5000;
/** How often the lease is renewed, and the outbox checked for events whose notice was lost, in milliseconds. */
const renewMs = 1000;
const retryMaxMs = 5000;
/** Published rows are kept for several sync intervals of the server, because a stream may lose unsynced events. */
const graceSec = 600;
const removalBatch = 1000;
/** One day longer than the stream keeps messages. */
const largeEventAgeSec = 8 * 24 * 3600;
const cleaningMs = 10_000;

const unverified = { generation: 0, lastSequence: 0 };

/** Creates the relay of this process; it does nothing before `start`. */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, bus, log, stream = eventStream, keptFor = () => [] } = options;
  const room = createStreamRoom({ bus, stream, keptFor });
  const fullness = createFullnessLog(log, stream);
  const lease = createLease(database, { name: `outbox ${stream.name}`, lifetimeMs: leaseLifetimeMs });
  const holding = every({ name: 'renew the lease of the outbox', log, intervalMs: renewMs, run: renew });
  const publishing = whenWoken({
    name: 'publish the events of the outbox',
    log,
    retryMs: (failures) => Math.min(retryMaxMs, 100 * 2 ** failures),
    run: publish,
  });
  const cleaning = every({
    name: 'remove published events',
    log,
    intervalMs: cleaningMs,
    firstAfterMs: cleaningMs,
    run: clean,
  });
  let stopNotices = () => {};
  let stopConnects = () => {};
  /** The connection on which the stream was verified, and its highest sequence number then. */
  let verified = unverified;

  const mayPublish = () => lease.held && bus.connected && bus.generation === verified.generation;

  /** Verifies the stream before the first event on a new connection or by a new holder of the lease. */
  async function verifyStream(): Promise<void> {
    const { generation } = bus;
    const lastSequence = await updateEventStream({ bus, stream, keptFor: keptFor(), log });
    const lost = await republishAfter(database.query, lastSequence);
    if (lost > 0) log.warn({ events: lost, stream: stream.name }, 'the stream lost events, publishing them again');
    await room.look();
    verified = { generation, lastSequence };
  }

  /** Publishes a round. Returns 0, which runs the next round at once, while events and room for them are left. */
  async function publishNext(): Promise<number | undefined> {
    if (verified.generation !== bus.generation) await verifyStream();
    const reading = room.isLow ? await room.look() : undefined;
    const { lastSequence: knownSequence } = verified;
    const subjectPrefix = stream.prefix;
    const round = await publishRound({ database, bus, log, subjectPrefix, knownSequence, mayPublish, room });
    if (round.busFailure) throw round.busFailure;
    if (round.lastSequence > 0) verified = { ...verified, lastSequence: round.lastSequence };
    // A fresh look found no room, so the readers must advance first. The next renewal of the lease looks again.
    const isFull = round.noRoom && round.lastSequence === 0 && reading !== undefined;
    if (isFull) fullness.full(holdersOf(reading));
    else if (!round.noRoom) fullness.over();
    return !isFull && (round.more || round.noRoom) ? 0 : undefined;
  }

  async function publish(): Promise<number | typeof skipped | undefined> {
    if (!lease.held || !bus.connected) return skipped;
    try {
      return await publishNext();
    } catch (error) {
      verified = unverified;
      throw error;
    }
  }

  async function clean(ending: AbortSignal): Promise<typeof skipped | undefined> {
    if (!lease.held) return skipped;
    let removed = removalBatch;
    while (removed === removalBatch && !ending.aborted && lease.held)
      removed = await removePublished(database.query, graceSec, removalBatch);
    await removeLargeEvents(database.query, largeEventAgeSec);
    return undefined;
  }

  async function renew(): Promise<void> {
    const taken = await lease.renew();
    if (taken) {
      log.info('this process publishes the events of the outbox now');
      verified = unverified;
    }
    publishing.wake();
  }

  return {
    start() {
      stopNotices = bus.onNotice('outbox', publishing.wake);
      stopConnects = bus.onConnect(publishing.wake);
      holding.start();
      cleaning.start();
    },
    async stop() {
      stopNotices();
      stopConnects();
      await Promise.all([holding.stop(), publishing.stop(), cleaning.stop()]);
      await lease.release().catch((error) => log.warn({ err: error }, 'cannot release the lease of the outbox'));
    },
    wake() {
      if (lease.held) publishing.wake();
      else bus.notify('outbox');
    },
  };
}
