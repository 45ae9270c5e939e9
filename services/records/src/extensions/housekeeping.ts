import type { Query } from '@recordbus/database';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { removeOldRuns } from './crons/cron-runs.ts';
import { removeExpiredValues } from './tools/extension-values.ts';

const intervalMs = 600_000;

/** Creates the background task that removes expired values and old runs. Every replica runs it. */
export const createHousekeeping = (query: Query, log: Logger): BackgroundTask =>
  every({
    name: "remove extensions' expired values and old runs",
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    async run() {
      await Promise.all([removeExpiredValues(query), removeOldRuns(query)]);
    },
  });
