import type { CronRun } from './cron-runs.ts';
import type { ScheduledAt } from './run-begun.ts';

/** A cron as admins see it. */
export interface ListedCron extends ScheduledAt {
  /** Null for the product's own. */
  readonly extension: string | null;
  readonly timeoutMs: number;
  readonly nextRunAt: Date | null;
}

/** Crons that admins list and run. */
export interface Crons {
  readonly crons: readonly ListedCron[];
  /** Begins a run now without waiting for its end. Throws 404 for an unknown cron, and 409 while it is running. */
  runNow(fullName: string): Promise<CronRun>;
}
