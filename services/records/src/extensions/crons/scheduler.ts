import { conflict, notFound } from '@recordbus/errors';
import type { ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { beginRun } from '../../crons/cron-runs.ts';
import type { Crons } from '../../crons/crons.ts';
import { followCron, nextTickOf } from '../../crons/follow-cron.ts';
import { type CronDeps, cronsOf, runCron } from './run-cron.ts';

/** Runs crons on schedule. Every replica has a scheduler, and one of them runs each tick. */
export interface Scheduler extends Crons {
  /** Follows the currently loaded extensions' crons. Call it at the start and after extensions change. */
  renew(): void;
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
          cronsOf(extension).map((cron) => followCron({ ...deps, runBegun: (run) => runCron(deps, cron, run) }, cron)),
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
