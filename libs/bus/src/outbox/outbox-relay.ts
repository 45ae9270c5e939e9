import { createLease, type Database } from '@recordbus/database';
import { every, skipped, whenWoken } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import type { Bus } from '../bus.ts';
import { type EventStream, eventStream } from '../event-stream.ts';
import { growEventStream } from '../grow-event-stream.ts';
import { createOutboxPublisher } from './outbox-publisher.ts';
import { removeLargeEvents, removePublished } from './outbox-store.ts';

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
const growingMs = 10_000;

/** Creates the relay of this process; it does nothing before `start`. */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, bus, log, stream = eventStream, keptFor = () => [] } = options;
  const lease = createLease(database, { name: `outbox ${stream.name}`, lifetimeMs: leaseLifetimeMs });
  const publisher = createOutboxPublisher({ database, bus, log, stream, keptFor, holdsLease: () => lease.held });
  const holding = every({ name: 'renew the lease of the outbox', log, intervalMs: renewMs, run: renew });
  const publishing = whenWoken({
    name: 'publish the events of the outbox',
    log,
    retryMs: (failures) => Math.min(retryMaxMs, 100 * 2 ** failures),
    run: async () => (lease.held && bus.connected ? publisher.publish() : skipped),
  });
  const cleaning = every({
    name: 'remove published events',
    log,
    intervalMs: cleaningMs,
    firstAfterMs: cleaningMs,
    run: async (ending) => (lease.held ? clean(database, () => lease.held && !ending.aborted) : skipped),
  });
  const growing = every({
    name: 'keep three replicas of the stream',
    log,
    intervalMs: growingMs,
    run: async () => (lease.held && bus.connected ? growEventStream(bus, stream, log) : skipped),
  });
  const endings: (() => void)[] = [];

  async function renew(): Promise<void> {
    const taken = await lease.renew();
    if (taken) {
      log.info('this process publishes the events of the outbox now');
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
      await lease.release().catch((error) => log.warn({ err: error }, 'cannot release the lease of the outbox'));
    },
    wake() {
      if (lease.held) publishing.wake();
      else bus.notify('outbox');
    },
  };
}

/** Removes old events in batches, while `mayGoOn`. */
async function clean({ query }: Database, mayGoOn: () => boolean): Promise<undefined> {
  let removed = removalBatch;
  while (removed === removalBatch && mayGoOn()) removed = await removePublished(query, graceSec, removalBatch);
  await removeLargeEvents(query, largeEventAgeSec);
}
