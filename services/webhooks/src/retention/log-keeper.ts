import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import type { EventDays } from '../fan-out/event-days.ts';
import { dropOldDays } from './drop-old-days.ts';

/** Sees to the days of the log: makes those to come, drops those that have been kept long enough. */
interface LogKeeper {
  /** Makes the days that are needed now; throws when the database does not answer. Then goes on in the background. */
  start(): Promise<void>;
  /** To be called when the time that the log is kept has changed. */
  wake(): void;
  stop(): Promise<void>;
}

interface LogKeeperOptions {
  readonly query: Query;
  readonly days: EventDays;
  readonly keepDays: () => number;
  readonly log: Logger;
}

const hourMs = 3600 * 1000;
/** A day that was in use, or a database that was away, is tried again after this. */
const failureMs = 60_000;

/** Makes one. Every replica runs it; the database lets one at a time do the work. */
export function createLogKeeper({ query, days, keepDays, log }: LogKeeperOptions): LogKeeper {
  const ending = new AbortController();
  let resting = new AbortController();
  let keeping = Promise.resolve();

  async function keep(): Promise<number> {
    try {
      await days.ensureAhead();
      const dropped = await dropOldDays(query, keepDays());
      if (dropped.length === 0) return hourMs;
      days.forget();
      log.info({ days: dropped }, 'old deliveries were dropped');
      return hourMs;
    } catch (error) {
      log.warn({ err: error }, 'the days of the delivery log were not seen to, trying again');
      return failureMs;
    }
  }

  async function keepOn(): Promise<void> {
    while (!ending.signal.aborted) {
      resting = new AbortController();
      const signal = AbortSignal.any([ending.signal, resting.signal]);
      const restMs = await keep();
      await sleep(restMs, undefined, { signal }).catch(() => {});
    }
  }

  return {
    async start() {
      await days.ensureAhead();
      keeping = keepOn();
    },
    wake: () => resting.abort(),
    async stop() {
      ending.abort();
      await keeping;
    },
  };
}
