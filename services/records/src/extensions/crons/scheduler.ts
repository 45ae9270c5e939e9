import type { Database } from '@recordbus/database';
import type { CronDescription, ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { every, heartbeat } from '@recordbus/shared/background';
import { AppError, conflict, notFound } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { Cron } from 'croner';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { WithTransactions } from '../call-transactions.ts';
import { beginRun, type CronRun, endRun, findLastTick, renewMs, renewRun } from './cron-runs.ts';

/** A loaded cron. */
export interface ScheduledCron extends CronDescription {
  /** `<extension>.<name>`, its name outside the extension. */
  readonly fullName: string;
  readonly extension: string;
  readonly nextRunAt: Date | null;
}

/** Runs crons on schedule. Every replica has a scheduler, and one of them runs each tick. */
export interface Scheduler {
  readonly crons: readonly ScheduledCron[];
  /** Follows the crons of the currently loaded extensions. Call it at the start and after each change of extensions. */
  renew(): void;
  /** Begins a run now without waiting for its end. Throws 404 for an unknown cron, and 409 while it is running. */
  runNow(fullName: string): Promise<CronRun>;
  /** Starts no further runs. Current runs end with the extensions. */
  stop(): void;
}

interface SchedulerDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly withTransactions: WithTransactions;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** A tick that is later than this was missed: the process did not run, or was frozen. */
const lateMs = 60_000;
/** The longest wait between checks of the clock: timers fail beyond 24 days, and clocks are set. */
const maxSleepMs = 60_000;
/** The wait before another attempt when the database fails. */
const retryMs = 2000;

/** Creates the scheduler. It does nothing before `renew`. */
export function createScheduler({ host, withTransactions, database, log, clock = Date.now }: SchedulerDeps): Scheduler {
  const running = new Map<LoadedExtension, readonly { stop(): void }[]>();

  const cronsOf = ({ name, description }: LoadedExtension) =>
    description.crons.map((cron) => ({ ...cron, extension: name, fullName: `${name}.${cron.name}` }));
  const declared = () => host.extensions.flatMap(cronsOf);
  type Declared = ReturnType<typeof cronsOf>[number];

  const jobOf = ({ schedule, timeZone }: CronDescription) =>
    new Cron(schedule, { timezone: timeZone, paused: true, mode: '5-part' });

  async function run(cron: Declared, { id, tick, cause }: CronRun): Promise<void> {
    const context = {
      requestId: id,
      traceparent: acceptTraceparent(undefined),
      principal: principalOfExtension(cron.extension),
      clientAddress: '',
    };
    const endRenewal = heartbeat(renewMs, () => renewRun(database.query, id));
    let failure: string | null = null;
    try {
      const target = { kind: 'cron', name: cron.name } as const;
      const input = { name: cron.name, at: tick ?? Math.floor(clock() / 1000), isManual: cause === 'manual' };
      await withTransactions(cron.extension, rootScope(context), (answer) =>
        host.call(cron.extension, { target, input, timeoutMs: cron.timeoutMs, answer }),
      );
    } catch (error) {
      failure = errorTextOf(error);
      log.warn({ cron: cron.fullName, run: id, reason: failure }, 'a cron failed');
    } finally {
      endRenewal();
    }
    await endRun(database.query, id, failure).catch((error) =>
      log.warn({ cron: cron.fullName, run: id, err: error }, 'cannot record the end of a cron run'),
    );
  }

  async function tick(cron: Declared, at: Date, cause: 'schedule' | 'missed'): Promise<void> {
    const begun = await beginRun(database, { cron: cron.fullName, tick: at, cause });
    if (begun?.status === 'skipped') log.warn({ cron: cron.fullName }, 'a cron is still running and skips a tick');
    if (begun?.status === 'running') void run(cron, begun);
  }

  /** Runs the last missed tick if the cron is declared so. */
  async function runMissed(cron: Declared): Promise<void> {
    const last = await findLastTick(database.query, cron.fullName);
    const [due] = jobOf(cron).previousRuns(1, new Date(clock()));
    if (cron.missed === 'run once' && due && due > last) await tick(cron, due, 'missed');
  }

  function follow(cron: Declared): { stop(): void } {
    let missedIsDone = false;
    let next = jobOf(cron).nextRun(new Date(clock()));

    /** Begins a run when it is due. Returns the milliseconds until the next check. */
    async function check(): Promise<number> {
      if (!missedIsDone) await runMissed(cron);
      missedIsDone = true;
      if (!next) return Number.POSITIVE_INFINITY;
      const leftMs = next.getTime() - clock();
      if (leftMs > 0) return Math.min(leftMs, maxSleepMs);
      if (leftMs < -lateMs) await runMissed(cron);
      else await tick(cron, next, 'schedule');
      next = jobOf(cron).nextRun(new Date(Math.max(next.getTime(), clock() - lateMs)));
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

  function followOnly(loaded: readonly LoadedExtension[]): void {
    for (const [extension, timers] of running) {
      if (loaded.includes(extension)) continue;
      for (const timer of timers) timer.stop();
      running.delete(extension);
    }
    for (const extension of loaded) if (!running.has(extension)) running.set(extension, cronsOf(extension).map(follow));
  }

  return {
    get crons() {
      return declared().map((cron) => ({ ...cron, nextRunAt: jobOf(cron).nextRun(new Date(clock())) }));
    },
    renew: () => followOnly(host.extensions),
    stop: () => followOnly([]),
    async runNow(fullName) {
      const cron = declared().find((one) => one.fullName === fullName);
      if (!cron) throw notFound('cron');
      const begun = await beginRun(database, { cron: fullName, tick: undefined, cause: 'manual' });
      if (!begun) throw conflict('cron_running', 'the cron is running');
      void run(cron, begun);
      return begun;
    },
  };
}

/** The error of a run for admins: for a defect of the extension, the message of its own error. */
function errorTextOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const hasMessage = typeof cause === 'object' && cause !== null && 'message' in cause;
  return error instanceof AppError && hasMessage ? String(cause.message) : error.message;
}
