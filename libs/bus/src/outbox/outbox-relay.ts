import { createLease, type Database } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import type { Bus } from '../bus.ts';
import { type EventStream, ensureEventStream, eventStream } from '../event-stream.ts';
import { publishRound } from './outbox-round.ts';
import { removeLargeEvents, removePublished, republishAfter } from './outbox-store.ts';

/**
 * Brings events from the outbox to the stream. Every process that writes events runs one, and at any time one of them
 * all does the work: only so is the stream in commit order for each record, whatever replica wrote it.
 */
export interface OutboxRelay {
  start(): void;
  /** Finishes the round under way and lets another process take over. */
  stop(): Promise<void>;
  /** To be called after a commit that wrote events. Never waits, never throws. */
  wake(): void;
}

interface OutboxRelayOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Logger;
  readonly stream?: EventStream;
}

const leaseLifetimeMs = 5000;
/** The lease is renewed, and what nobody gave notice of is looked for, this often. */
const tickMs = 1000;
const retryMaxMs = 5000;
/** Published rows are kept for several of the server's sync intervals, so that a stream that lost them gets them again. */
const graceSec = 600;
const removalBatch = 1000;
/** A day longer than the stream keeps messages. */
const largeEventAgeSec = 8 * 24 * 3600;
const cleaningMs = 10_000;

const unverified = { generation: 0, lastSequence: 0 };

/** Makes the relay of this process; it does nothing before `start`. */
export function createOutboxRelay({ database, bus, log, stream = eventStream }: OutboxRelayOptions): OutboxRelay {
  const lease = createLease(database, { name: `outbox ${stream.name}`, lifetimeMs: leaseLifetimeMs });
  let stopping = false;
  let nextTick: NodeJS.Timeout | undefined;
  let ticking = Promise.resolve();
  let cleaning: Promise<void> | undefined;
  let stopNotices = () => {};
  let stopConnects = () => {};
  let pumping: Promise<void> | undefined;
  let again = false;
  let failures = 0;
  let retryAtMs = 0;
  let cleanedAtMs = 0;
  /** The connection on which the stream was looked at, and the highest number that it had given. */
  let verified = unverified;

  const mayPublish = () => lease.held && bus.connected && bus.generation === verified.generation;

  /** Looks at the stream before anything is published on a new connection or by a new holder. */
  async function verifyStream(): Promise<void> {
    const { generation } = bus;
    const { state } = await ensureEventStream(bus, stream);
    const lost = await republishAfter(database.query, state.last_seq);
    if (lost > 0) log.warn({ events: lost, stream: stream.name }, 'the stream lost events, they are published again');
    verified = { generation, lastSequence: state.last_seq };
  }

  async function pump(): Promise<void> {
    do {
      again = false;
      if (verified.generation !== bus.generation) await verifyStream();
      const { lastSequence: knownSequence } = verified;
      const round = await publishRound({ database, bus, log, subjectPrefix: stream.prefix, knownSequence, mayPublish });
      if (round.busFailure) throw round.busFailure;
      if (round.lastSequence > 0) verified = { ...verified, lastSequence: round.lastSequence };
      failures = 0;
      again ||= round.more;
    } while (again && !stopping && lease.held && bus.connected);
  }

  function wakeHolder(): void {
    if (stopping || !lease.held || !bus.connected || performance.now() < retryAtMs) return;
    again = true;
    pumping ??= pump()
      .catch((error) => {
        failures += 1;
        verified = unverified;
        retryAtMs = performance.now() + Math.min(retryMaxMs, 100 * 2 ** failures);
        log.warn({ err: error, failures }, 'events wait in the outbox');
      })
      .finally(() => {
        pumping = undefined;
        // A wake that came while the pump was ending would otherwise wait for the next tick.
        if (again) wakeHolder();
      });
  }

  async function clean(): Promise<void> {
    cleanedAtMs = performance.now();
    let removed = removalBatch;
    while (removed === removalBatch && !stopping && lease.held)
      removed = await removePublished(database.query, graceSec, removalBatch);
    await removeLargeEvents(database.query, largeEventAgeSec);
  }

  function cleanNowAndThen(): void {
    if (!lease.held || performance.now() < cleanedAtMs + cleaningMs) return;
    cleaning ??= clean()
      .catch((error) => log.warn({ err: error }, 'published events were not removed'))
      .finally(() => {
        cleaning = undefined;
      });
  }

  async function tick(): Promise<void> {
    try {
      const taken = await lease.renew();
      if (taken) {
        log.info('this process publishes the events now');
        verified = unverified;
      }
      wakeHolder();
      cleanNowAndThen();
    } catch (error) {
      log.warn({ err: error }, 'the lease of the outbox was not renewed');
    }
    if (!stopping)
      nextTick = setTimeout(() => {
        ticking = tick();
      }, tickMs);
  }

  return {
    start() {
      stopNotices = bus.onNotice('outbox', wakeHolder);
      stopConnects = bus.onConnect(wakeHolder);
      ticking = tick();
    },
    async stop() {
      stopping = true;
      clearTimeout(nextTick);
      stopNotices();
      stopConnects();
      await Promise.all([ticking, pumping, cleaning]);
      await lease.release().catch((error) => log.warn({ err: error }, 'the lease of the outbox was not given back'));
    },
    wake() {
      if (lease.held) wakeHolder();
      else bus.notify('outbox');
    },
  };
}
