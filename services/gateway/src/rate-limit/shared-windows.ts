import type { Database } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { takeWindow } from '@recordbus/rate-limits';
import { createOwnWindows, type RateWindow, type RateWindows } from './rate-windows.ts';

const nowMs = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

const removeEndedSql = `delete from system.rate_windows where ends_at_ms < ${nowMs}`;

/** A request's longest wait for the shared counter, in milliseconds. */
const timeoutMs = 2000;
/** After a failure one request in this time tries the database again, in milliseconds. */
const retryEveryMs = 2000;
/** How often ended windows are removed, in milliseconds. */
const removeEveryMs = 60_000;

/** Counters that all replicas share. They have a lifetime because ended windows are removed in the background. */
export interface SharedWindows extends RateWindows {
  start(): void;
  stop(): Promise<void>;
}

interface SharedWindowsDeps {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

/**
 * Creates counters that are database rows. A count is one statement, timed by the database's clock. While the database
 * does not answer, each replica continues alone from the last shared counts, so an outage neither admits nor refuses
 * everyone.
 */
export function createSharedWindows({ database, log }: SharedWindowsDeps): SharedWindows {
  const own = createOwnWindows(() => performance.now());
  /** Undefined while the database answers. */
  let retryAtMs: number | undefined;
  const removing = every({
    name: 'remove ended rate windows',
    log,
    level: 'debug',
    intervalMs: removeEveryMs,
    firstAfterMs: removeEveryMs,
    async run() {
      await database.query({ name: 'rate-window.remove-ended', text: removeEndedSql, values: [] });
    },
  });

  async function takeShared(key: string, windowMs: number, count: number): Promise<RateWindow> {
    const window = await withTimeout(takeWindow(database.query, { key, windowMs, count }));
    own.follow(key, window);
    if (retryAtMs !== undefined) log.info('rate limits are shared by all replicas again');
    retryAtMs = undefined;
    return window;
  }

  return {
    async take(key, windowMs, count) {
      const now = performance.now();
      if (retryAtMs !== undefined) {
        if (now < retryAtMs) return own.take(key, windowMs, count);
        retryAtMs = now + retryEveryMs;
      }
      try {
        return await takeShared(key, windowMs, count);
      } catch (error) {
        if (retryAtMs === undefined) log.warn({ err: error }, 'rate limits are counted by this replica alone');
        retryAtMs = performance.now() + retryEveryMs;
        return own.take(key, windowMs, count);
      }
    },
    start: removing.start,
    stop: removing.stop,
  };
}

/** Rejects when the work takes longer than a request may wait. The work's result is then ignored. */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(new Error(`no answer within ${timeoutMs} ms`));
  // The answer may have arrived while this process was busy; `setImmediate` lets it win.
  const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
