import { createPartitionLeases, type Database } from '@recordbus/database';
import { every, skipped, whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from '../bus.ts';
import { defaultPartitions } from '../event-partitions.ts';
import { type EventStream, eventStream } from '../event-stream.ts';
import { growEventStream } from '../grow-event-stream.ts';
import { createRoomGrants } from '../room/room-grants.ts';
import { createOutboxPublisher } from './outbox-publisher.ts';
import { removeLargeEvents, removePublished } from './outbox-store.ts';

/**
 * Publishes the outbox events to the stream. Every replica that writes events runs a relay, and they divide the outbox
 * into partitions by record key. One relay at a time publishes a partition. This keeps each record's events in commit
 * order on the stream, whichever replicas wrote them.
 */
export interface OutboxRelay {
  start(): void;
  /** Finishes the current round and lets other processes take over. */
  stop(): Promise<void>;
  /** Call it after a commit that wrote events. Never waits, never throws. */
  wake(): void;
}

interface OutboxRelayOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly stream?: EventStream;
  /** Consumers, in addition to the product's own, that must have read an event before the stream may drop it. */
  readonly keptFor?: () => readonly string[];
  /** Into how many partitions the relays divide the outbox; the same for all. */
  readonly partitions?: number | undefined;
}

const leaseLifetimeMs = 5000;
/** How often the leases are renewed, and the outbox is checked for events whose notice was lost, in milliseconds. */
const renewMs = 1000;
const retryMaxMs = 5000;
/** Published rows are kept for several of the server's sync intervals, because a stream may lose unsynced events. */
const graceSec = 600;
const removalBatch = 1000;
/** One day longer than the stream keeps messages. */
const largeEventAgeSec = 8 * 24 * 3600;
const cleaningMs = 10_000;
const growingMs = 10_000;

/** Creates this process's relay; it does nothing before `start`. */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const {
    database,
    bus,
    log,
    stream = eventStream,
    keptFor = () => [],
    partitions: count = defaultPartitions,
  } = options;
  const name = `outbox ${stream.name}`;
  const leases = createPartitionLeases(database, { name, partitions: count, lifetimeMs: leaseLifetimeMs });
  const partitions = () => ({ count, held: leases.held });
  const grants = createRoomGrants({ database, stream, member: leases.member, relays: () => leases.members });
  const publisher = createOutboxPublisher({ database, bus, log, stream, keptFor, grants, partitions });
  const isActive = () => leases.held.length > 0;
  /** The first partition's relay does the work that is shared by all. */
  const isFirst = () => leases.held.includes(0);
  const holding = every({ name: 'renew the outbox leases', log, intervalMs: renewMs, run: renew });
  const publishing = whenWoken({
    name: 'publish the outbox events',
    log,
    retryMs: (failures) => Math.min(retryMaxMs, 100 * 2 ** failures),
    run: async () => (isActive() && bus.connected ? publisher.publish() : skipped),
  });
  const cleaning = every({
    name: 'remove published events',
    log,
    intervalMs: cleaningMs,
    firstAfterMs: cleaningMs,
    run: async (ending) => (isFirst() ? clean(database, () => isFirst() && !ending.aborted) : skipped),
  });
  const growing = every({
    name: 'keep three stream replicas',
    log,
    intervalMs: growingMs,
    run: async () => (isFirst() && bus.connected ? growEventStream(bus, stream, log) : skipped),
  });
  const endings: (() => void)[] = [];

  async function renew(): Promise<void> {
    const taken = await leases.renew();
    if (taken.length > 0) {
      log.info({ partitions: leases.held, of: count }, 'this process now publishes outbox events');
      publisher.distrust();
    }
    publishing.wake();
  }

  return {
    start() {
      endings.push(bus.onNotice('outbox', publishing.wake), bus.onConnect(publishing.wake));
      holding.start();
      cleaning.start();
      growing.start();
    },
    async stop() {
      for (const end of endings) end();
      await Promise.all([holding.stop(), publishing.stop(), cleaning.stop(), growing.stop()]);
      await leases.release().catch((error) => log.warn({ err: error }, 'cannot release the outbox leases'));
    },
    wake() {
      if (isActive()) publishing.wake();
      if (leases.held.length < count) bus.notify('outbox');
    },
  };
}

/** Removes old events in batches, while `mayGoOn` returns true. */
async function clean({ query }: Database, mayGoOn: () => boolean): Promise<undefined> {
  let removed = removalBatch;
  while (removed === removalBatch && mayGoOn()) removed = await removePublished(query, graceSec, removalBatch);
  await removeLargeEvents(query, largeEventAgeSec);
}
