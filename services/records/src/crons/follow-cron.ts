import { every } from '@recordbus/process/background';
import { Cron } from 'croner';
import { beginRun, type CronRun, findLastTick } from './cron-runs.ts';
import type { CronDeps, ScheduledAt } from './run-begun.ts';

/** A tick that is later than this was missed: the process did not run, or was frozen. */
const lateMs = 60_000;
/** How long it waits between two looks at the clock at most. Timers fail beyond 24 days, and clocks may be changed. */
const maxSleepMs = 60_000;
/** The wait before another attempt when the database fails. */
const retryMs = 2000;

const jobOf = ({ schedule, timeZone }: ScheduledAt): Cron =>
  new Cron(schedule, { timezone: timeZone, paused: true, mode: '5-part' });

/** Returns a cron's first tick after a time in milliseconds since the epoch; null when there is none. */
export const nextTickOf = (cron: ScheduledAt, afterMs: number): Date | null => jobOf(cron).nextRun(new Date(afterMs));

/** Follows a cron: what begins its runs, and how. */
interface Followed extends CronDeps {
  /** Does a run's work and records its end. Never throws. */
  readonly runBegun: (run: CronRun) => Promise<void>;
}

/** Begins a cron's runs on schedule until `stop`, which does not wait for the current run. */
export function followCron(deps: Followed, cron: ScheduledAt): { stop(): void } {
  const { log, clock } = deps;
  let missedIsDone = false;
  let next = nextTickOf(cron, clock());

  /** Begins a run when it is due. Returns the milliseconds until the next check. */
  async function check(): Promise<number> {
    if (!missedIsDone) await runMissed(deps, cron);
    missedIsDone = true;
    if (!next) return Number.POSITIVE_INFINITY;
    const leftMs = next.getTime() - clock();
    if (leftMs > 0) return Math.min(leftMs, maxSleepMs);
    if (leftMs < -lateMs) await runMissed(deps, cron);
    else await runTick(deps, cron, next, 'schedule');
    next = nextTickOf(cron, Math.max(next.getTime(), clock() - lateMs));
    return 0;
  }

  const checking = every({
    name: `begin the cron ${cron.fullName}`,
    log,
    intervalMs: maxSleepMs,
    retryMs,
    run: check,
  });
  checking.start();
  // Not awaited: a current run ends with the extensions.
  return { stop: () => void checking.stop() };
}

/** Runs the last missed tick if the cron is declared so. */
async function runMissed(deps: Followed, cron: ScheduledAt): Promise<void> {
  const last = await findLastTick(deps.database.query, cron.fullName);
  const [due] = jobOf(cron).previousRuns(1, new Date(deps.clock()));
  if (cron.missed === 'run once' && due && due > last) await runTick(deps, cron, due, 'missed');
}

async function runTick(deps: Followed, cron: ScheduledAt, tick: Date, cause: 'schedule' | 'missed'): Promise<void> {
  const begun = await beginRun(deps.database, { cron: cron.fullName, tick, cause });
  if (begun?.status === 'skipped') deps.log.warn({ cron: cron.fullName }, 'a cron is still running and skips a tick');
  if (begun?.status === 'running') void deps.runBegun(begun);
}
