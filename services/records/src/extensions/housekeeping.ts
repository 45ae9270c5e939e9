import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { removeOldRuns } from './crons/cron-runs.ts';
import { removeExpiredValues } from './tools/kv-tools.ts';

const intervalMs = 600_000;

/** Removes values and runs that have had their time; every replica does, and none gets in another's way. */
export function startHousekeeping(query: Query, log: Logger): { stop(): void } {
  const tidy = () =>
    void Promise.all([removeExpiredValues(query), removeOldRuns(query)]).catch((error) =>
      log.warn({ err: error }, 'what has run out could not be removed'),
    );
  const timer = setInterval(tidy, intervalMs);
  return { stop: () => clearInterval(timer) };
}
