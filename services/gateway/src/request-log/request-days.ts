import type { Database } from '@recordbus/database';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Settings } from '@recordbus/settings';
import { boundRequests, dropRequestDays, ensureRequestDay } from './requests-table.ts';

/**
 * Creates the request log's partitions, one or more for each day with requests, and drops those past the retention and
 * the oldest ones when the log is too large.
 */
export interface RequestDays {
  /** Creates the partitions for these times, in unix seconds. Throws when the database does not answer. */
  ensure(times: readonly number[]): Promise<void>;
  /** Forgets which days have partitions: another replica may have dropped one. */
  forget(): void;
  /** Notes written rows, about so many bytes. Drops the oldest rows soon if the log may now be too large. */
  noteWritten(bytes: number): void;
  /** Drops old days now, every hour, and when a setting changes. */
  start(): void;
  stop(): Promise<void>;
}

interface RequestDaysDeps {
  readonly database: Pick<Database, 'query'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

const daySec = 24 * 3600;
const hourMs = 3_600_000;
/** Each replica compares the log with its limit after it wrote this fraction of it. */
const checksPerLog = 32;

const dayOf = (atSec: number): string => new Date(atSec * 1000).toISOString().slice(0, 10);

/**
 * Creates the partitions, and caches the days that have one. Every replica does this; the database lets one at a time
 * drop days.
 */
export function createRequestDays({ database, settings, log, clock = Date.now }: RequestDaysDeps): RequestDays {
  const known = new Set<string>();
  let writtenBytes = 0;
  let endChanges: () => unknown = () => {};
  const dropping = every({ name: 'drop old days from the request log', log, intervalMs: hourMs, run: drop });

  async function drop(): Promise<void> {
    const oldest = dayOf(clock() / 1000 - settings.get('logs.retention_days') * daySec);
    const days = await dropRequestDays(database.query, oldest);
    for (const day of days) known.delete(day);
    writtenBytes = 0;
    const partitions = await boundRequests(database.query, settings.get('logs.requests_max_bytes'));
    if (partitions > 0) {
      known.clear();
      log.info({ partitions }, 'request log full: dropped its oldest requests');
    }
    if (days.length > 0) log.info({ days }, 'dropped old days from the request log');
  }

  return {
    async ensure(times) {
      const starts = new Set(times.map((atSec) => atSec - (atSec % daySec)));
      for (const day of [...starts].map(dayOf)) {
        if (known.has(day)) continue;
        await ensureRequestDay(database.query, day);
        known.add(day);
      }
    },
    forget: () => known.clear(),
    noteWritten(bytes) {
      writtenBytes += bytes;
      if (writtenBytes > settings.get('logs.requests_max_bytes') / checksPerLog) dropping.wake();
    },
    start() {
      endChanges = settings.onChange((changed) => {
        if (changed.has('logs.retention_days') || changed.has('logs.requests_max_bytes')) dropping.wake();
      });
      dropping.start();
    },
    async stop() {
      endChanges();
      await dropping.stop();
    },
  };
}
