import type { Database } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { dropRequestDays, ensureRequestDay } from './requests-table.ts';

/** Creates the request log's partitions, one for each day with requests, and drops those past the retention. */
export interface RequestDays {
  /** Creates the partitions for these times, in unix seconds. Throws when the database does not answer. */
  ensure(times: readonly number[]): Promise<void>;
  /** Drops old days now, every hour, and when `logs.retention_days` changes. */
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

const dayOf = (atSec: number): string => new Date(atSec * 1000).toISOString().slice(0, 10);

/**
 * Creates the partitions, and caches the days that have one. Every replica does this; the database lets one at a time
 * drop days.
 */
export function createRequestDays({ database, settings, log, clock = Date.now }: RequestDaysDeps): RequestDays {
  const known = new Set<string>();
  let endChanges: () => unknown = () => {};
  const dropping = every({ name: 'drop old days of the request log', log, intervalMs: hourMs, run: drop });

  async function drop(): Promise<void> {
    const oldest = dayOf(clock() / 1000 - settings.get('logs.retention_days') * daySec);
    const days = await dropRequestDays(database.query, oldest);
    for (const day of days) known.delete(day);
    if (days.length > 0) log.info({ days }, 'dropped old days of the request log');
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
    start() {
      endChanges = settings.onChange((changed) => {
        if (changed.has('logs.retention_days')) dropping.wake();
      });
      dropping.start();
    },
    async stop() {
      endChanges();
      await dropping.stop();
    },
  };
}
