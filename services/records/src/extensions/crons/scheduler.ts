import { conflict, notFound } from '@recordbus/errors';
import type { ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { beginRun, type CronRun } from './cron-runs.ts';
import { followCron, nextTickOf } from './follow-cron.ts';
import { type CronDeps, cronsOf, type DeclaredCron, runCron } from './run-cron.ts';

/** A loaded cron. */
export interface ScheduledCron extends DeclaredCron {
  readonly nextRunAt: Date | null;
}

/** Runs crons on schedule. Every replica has a scheduler, and one of them runs each tick. */
export interface Scheduler {
  readonly crons: readonly ScheduledCron[];
  /** Follows the currently loaded extensions' crons. Call it at the start and after extensions change. */
  renew(): void;
  /** Begins a run now without waiting for its end. Throws 404 for an unknown cron, and 409 while it is running. */
  runNow(fullName: string): Promise<CronRun>;
  /** Starts no further runs. Current runs end with the extensions. */
  stop(): void;
}

interface SchedulerDeps extends Omit<CronDeps, 'clock'> {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** Creates the scheduler. It does nothing before `renew`. */
export function createScheduler({ clock = Date.now, ...rest }: SchedulerDeps): Scheduler {
  const { host, database } = rest;
  const deps: CronDeps = { ...rest, clock };
  const followed = new Map<LoadedExtension, readonly { stop(): void }[]>();
  const declared = () => host.extensions.flatMap(cronsOf);

  function followOnly(loaded: readonly LoadedExtension[]): void {
    for (const [extension, crons] of followed) {
      if (loaded.includes(extension)) continue;
      for (const cron of crons) cron.stop();
      followed.delete(extension);
    }
    for (const extension of loaded)
      if (!followed.has(extension))
        followed.set(
          extension,
          cronsOf(extension).map((cron) => followCron(deps, cron)),
        );
  }

  return {
    get crons() {
      return declared().map((cron) => ({ ...cron, nextRunAt: nextTickOf(cron, clock()) }));
    },
    renew: () => followOnly(host.extensions),
    stop: () => followOnly([]),
    async runNow(fullName) {
      const cron = declared().find((one) => one.fullName === fullName);
      if (!cron) throw notFound('cron');
      const begun = await beginRun(database, { cron: fullName, tick: undefined, cause: 'manual' });
      if (!begun) throw conflict('cron_running', 'the cron is running');
      void runCron(deps, cron, begun);
      return begun;
    },
  };
}
