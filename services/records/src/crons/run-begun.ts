import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import { underLease } from '@recordbus/queue';
import { type CronRun, endRun, renewMs, renewRun } from './cron-runs.ts';

/** When a cron runs. */
export interface ScheduledAt {
  /** Its name for admins; an extension's has a dot. */
  readonly fullName: string;
  /** Five parts: minute, hour, day, month, weekday. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly missed: 'skip' | 'run once';
}

export interface CronDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Does the work of a run that has begun, and records how it ends; `textOf` describes what the work throws. Never throws. */
export async function runBegun(
  { database, log }: Pick<CronDeps, 'database' | 'log'>,
  run: CronRun,
  { work, textOf }: { readonly work: () => Promise<void>; readonly textOf: (error: unknown) => string },
): Promise<void> {
  const facts = { cron: run.cron, run: run.id };
  const renew = () => renewRun(database.query, run.id);
  const failure = await underLease({ renewMs, renew }, work).then(() => null, textOf);
  if (failure !== null) log.warn({ ...facts, reason: failure }, 'a cron failed');
  await endRun(database.query, run.id, failure).catch((error) =>
    log.warn({ ...facts, err: error }, "cannot record a cron run's end"),
  );
}
