import type { Database } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { dropRequestDays, ensureRequestDay } from './requests-table.ts';

/** Sees to the days of the request log: makes those that are written to, drops those that were kept long enough. */
export interface RequestDays {
  /** Makes the days of these times, in unix seconds; throws when the database does not answer. */
  ensure(times: readonly number[]): Promise<void>;
  /** Drops old days now, each hour, and when `logs.retention_days` changes. */
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

/** Makes one that remembers the days it has seen to. Every replica runs it; the database lets one at a time drop. */
export function createRequestDays({ database, settings, log, clock = Date.now }: RequestDaysDeps): RequestDays {
  const known = new Set<string>();
  let endChanges: () => unknown = () => {};
  const dropping = every({ name: 'drop old days of the request log', log, intervalMs: hourMs, run: drop });

  async function drop(): Promise<void> {
    const oldest = dayOf(clock() / 1000 - settings.get('logs.retention_days') * daySec);
    const days = await dropRequestDays(database.query, oldest);
    for (const day of days) known.delete(day);
    if (days.length > 0) log.info({ days }, 'old days of the request log were dropped');
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
