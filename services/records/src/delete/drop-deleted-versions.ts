import type { Query } from '@recordbus/database';
import { dropDeletedVersions } from '@recordbus/journal';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

const intervalMs = 30_000;

/** Creates the background task that drops deleted records' old versions. Every replica runs it. */
export const createDropDeletedVersions = (query: Query, log: Logger): BackgroundTask =>
  every({
    name: "drop deleted records' old versions",
    log,
    intervalMs,
    firstAfterMs: intervalMs,
    run: async () => void (await query(dropDeletedVersions)),
  });
