import type { Query } from '@recordbus/database';
import { type BackgroundTask, every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { removeOldJobs } from './job-store.ts';

const intervalMs = 600_000;

interface RemoveOldJobsDeps {
  readonly query: Query;
  readonly log: Logger;
  /** How long finished jobs are kept. */
  days(): number;
}

/** Creates the background task that removes finished jobs and their bodies. Every replica runs it. */
export const createRemoveOldJobs = (
  { query, log, days }: RemoveOldJobsDeps,
  body: { readonly folder: string; readonly name: string },
): BackgroundTask =>
  every({
    name: 'remove old jobs',
    log,
    intervalMs,
    firstAfterMs: 5000,
    run: () => removeOldJobs(query, days(), body.folder, body.name),
  });
