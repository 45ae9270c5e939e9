import { conflict, notFound } from '@recordbus/errors';
import { every } from '@recordbus/process/background';
import { beginRun, type CronRun, removeOldRuns } from './cron-runs.ts';
import type { Crons, ListedCron } from './crons.ts';
import { followCron, nextTickOf } from './follow-cron.ts';
import { type CronDeps, runBegun, type ScheduledAt } from './run-begun.ts';

/** A cron of the product's own. Its name has no dot. */
export interface ProductCron extends ScheduledAt {
  readonly timeoutMs: number;
  /** Ends soon after the signal, when the process stops or the run takes too long. */
  run(ending: AbortSignal): Promise<void>;
}

/** The product's own crons on a replica. One replica runs each tick. */
export interface ProductCrons extends Crons {
  start(): void;
  /** Waits for current runs, which end early. */
  stop(): Promise<void>;
}

/** How often ended runs are removed, in milliseconds. */
const removeEveryMs = 3_600_000;

/** Creates the crons. None runs before `start`, except by hand. */
export function createProductCrons(deps: CronDeps, own: readonly ProductCron[]): ProductCrons {
  const { database, log, clock } = deps;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let followed: readonly { stop(): void }[] = [];
  const removing = every({
    name: "remove crons' old runs",
    log,
    intervalMs: removeEveryMs,
    run: () => removeOldRuns(database.query),
  });

  function run(cron: ProductCron, begun: CronRun): Promise<void> {
    const ending = AbortSignal.any([stopping.signal, AbortSignal.timeout(cron.timeoutMs)]);
    const work = async () => {
      await cron.run(ending);
      if (ending.aborted) throw new Error(stopping.signal.aborted ? 'the process stopped' : 'the run took too long');
    };
    const done = runBegun(deps, begun, {
      work,
      textOf: (error) => (error instanceof Error ? error.message : `${error}`),
    });
    running.add(done);
    return done.finally(() => running.delete(done));
  }

  return {
    get crons() {
      return own.map((cron): ListedCron => ({ ...cron, extension: null, nextRunAt: nextTickOf(cron, clock()) }));
    },
    async runNow(fullName) {
      const cron = own.find((one) => one.fullName === fullName);
      if (!cron) throw notFound('cron');
      const begun = await beginRun(database, { cron: fullName, tick: undefined, cause: 'manual' });
      if (!begun) throw conflict('cron_running', 'the cron is running');
      void run(cron, begun);
      return begun;
    },
    start() {
      followed = own.map((cron) => followCron({ ...deps, runBegun: (begun) => run(cron, begun) }, cron));
      removing.start();
    },
    async stop() {
      for (const one of followed) one.stop();
      stopping.abort();
      await removing.stop();
      await Promise.all(running);
    },
  };
}
