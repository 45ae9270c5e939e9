import { createHash } from 'node:crypto';
import type { Database } from '@recordbus/database';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { createOwnWindows, type RateWindow, type RateWindows } from './rate-windows.ts';

const nowMs = '(extract(epoch from statement_timestamp()) * 1000)::bigint';

const takeSql = `
  insert into system.rate_windows as w (key, ends_at_ms, used) values ($1, ${nowMs} + $2::bigint, $3::bigint)
  on conflict (key) do update set
    used = excluded.used + case when w.ends_at_ms > ${nowMs} then w.used else 0 end,
    ends_at_ms = case when w.ends_at_ms > ${nowMs} then w.ends_at_ms else excluded.ends_at_ms end
  returning used, ends_at_ms as "endsAtMs", ends_at_ms - ${nowMs} as "leftMs"`;

const removeEndedSql = `delete from system.rate_windows where ends_at_ms < ${nowMs}`;

/** A request does not wait longer than this for the other replicas' counts. */
const patienceMs = 2000;
/** After a failure, and then for as long as it lasts, one request in this time asks whether it is over. */
const pauseMs = 2000;
/** How often ended windows are removed. */
const removeEveryMs = 60_000;

/** Counters that all replicas share, and that need a start and an end. */
export interface SharedWindows extends RateWindows {
  start(): void;
  stop(): Promise<void>;
}

interface SharedWindowsDeps {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

/**
 * Makes counters that are rows of the database, one statement each, timed by its clock. While it does not answer each
 * replica counts on by itself, from what it knows: nobody is let through for that, and nobody refused.
 */
export function createSharedWindows({ database, log }: SharedWindowsDeps): SharedWindows {
  const own = createOwnWindows(() => performance.now());
  /** Undefined while the database answers. */
  let askAgainAtMs: number | undefined;
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
    // Rows are found by a short key, whatever the length of a label.
    const values = [createHash('sha256').update(key).digest('base64url'), windowMs, count];
    const [window] = await inTime(database.query<RateWindow>({ name: 'rate-window', text: takeSql, values }));
    if (!window) throw new Error('a counter came back without its count');
    own.follow(key, window);
    if (askAgainAtMs !== undefined) log.info('rate limits are counted by all replicas together again');
    askAgainAtMs = undefined;
    return window;
  }

  return {
    async take(key, windowMs, count) {
      const now = performance.now();
      if (askAgainAtMs !== undefined) {
        if (now < askAgainAtMs) return own.take(key, windowMs, count);
        askAgainAtMs = now + pauseMs;
      }
      try {
        return await takeShared(key, windowMs, count);
      } catch (error) {
        if (askAgainAtMs === undefined) log.warn({ err: error }, 'rate limits are counted by this replica alone');
        askAgainAtMs = performance.now() + pauseMs;
        return own.take(key, windowMs, count);
      }
    },
    start: removing.start,
    stop: removing.stop,
  };
}

/** Rejects when the work takes longer than a request may wait; what comes of it then is nobody's business. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(new Error(`no answer within ${patienceMs} ms`));
  // An answer may have come while this process was busy: it is looked at first.
  const timer = setTimeout(() => setImmediate(giveUp), patienceMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
