import type { Database } from '@recordbus/database';
import type { CronDescription, ExtensionHost, LoadedExtension } from '@recordbus/extension-host';
import { AppError, conflict, notFound } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { Cron } from 'croner';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { beginRun, type CronRun, endRun, findLastTick, renewMs, renewRun } from './cron-runs.ts';

/** A cron that is loaded. */
export interface ScheduledCron extends CronDescription {
  /** `<extension>.<name>`, which is what it is called outside of its extension. */
  readonly fullName: string;
  readonly extension: string;
  readonly nextRunAt: Date | null;
}

/** Runs crons when it is time; every replica has one, and each tick is run by one of them. */
export interface Scheduler {
  readonly crons: readonly ScheduledCron[];
  /** Follows the crons of the extensions that are loaded now; to be called at the start, and when others are. */
  renew(): void;
  /** Begins a run now and does not wait for it. Throws 404 for an unknown cron, 409 while it is running. */
  runNow(fullName: string): Promise<CronRun>;
  /** Starts no run any more; those under way are left to end with the extensions. */
  stop(): void;
}

interface SchedulerDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly toolbox: Toolbox;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** A tick that comes later than this was missed: the process was not there, or it was frozen. */
const lateMs = 60_000;
/** Timers of more than 24 days do not work, and clocks are set: the time is looked at this often. */
const maxSleepMs = 60_000;
/** When the database did not answer, a tick is tried again after this. */
const retryMs = 2000;

/** Makes the scheduler; it does nothing before `renew`. */
export function createScheduler({ host, toolbox, database, log, clock = Date.now }: SchedulerDeps): Scheduler {
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
    const renewal = setInterval(() => void renewRun(database.query, id).catch(() => {}), renewMs);
    let failure: string | null = null;
    try {
      await host.call(cron.extension, {
        target: { kind: 'cron', name: cron.name },
        input: { name: cron.name, at: tick ?? Math.floor(clock() / 1000), isManual: cause === 'manual' },
        timeoutMs: cron.timeoutMs,
        answer: toolbox(cron.extension, rootScope(context)),
      });
    } catch (error) {
      failure = sentenceOf(error);
      log.warn({ cron: cron.fullName, run: id, reason: failure }, 'a cron failed');
    } finally {
      clearInterval(renewal);
    }
    await endRun(database.query, id, failure).catch((error) =>
      log.warn({ cron: cron.fullName, run: id, err: error }, 'the end of a run was not recorded'),
    );
  }

  async function tick(cron: Declared, at: Date, cause: 'schedule' | 'missed'): Promise<void> {
    const begun = await beginRun(database, { cron: cron.fullName, tick: at, cause });
    if (begun?.status === 'skipped') log.warn({ cron: cron.fullName }, 'a cron is still running and skips a tick');
    if (begun?.status === 'running') void run(cron, begun);
  }

  /** Makes up for the last tick that nobody was there for, if the cron wants that. */
  async function makeUp(cron: Declared): Promise<void> {
    const last = await findLastTick(database.query, cron.fullName);
    const [due] = jobOf(cron).previousRuns(1, new Date(clock()));
    if (cron.missed === 'run once' && due && due > last) await tick(cron, due, 'missed');
  }

  function follow(cron: Declared): { stop(): void } {
    let timer: NodeJS.Timeout | undefined;
    let next = jobOf(cron).nextRun(new Date(clock()));
    let isStopped = false;

    function wait(delayMs: number): void {
      if (!isStopped) timer = setTimeout(() => void look(), delayMs);
    }

    async function look(): Promise<void> {
      if (!next) return;
      const leftMs = next.getTime() - clock();
      if (leftMs > 0) return wait(Math.min(leftMs, maxSleepMs));
      try {
        if (leftMs < -lateMs) await makeUp(cron);
        else await tick(cron, next, 'schedule');
        next = jobOf(cron).nextRun(new Date(Math.max(next.getTime(), clock() - lateMs)));
        wait(0);
      } catch (error) {
        log.warn({ cron: cron.fullName, err: error }, 'a cron can not be begun, trying on');
        wait(retryMs);
      }
    }

    async function begin(): Promise<void> {
      try {
        await makeUp(cron);
        wait(0);
      } catch (error) {
        log.warn({ cron: cron.fullName, err: error }, 'a cron can not be looked up, trying on');
        if (!isStopped) timer = setTimeout(() => void begin(), retryMs);
      }
    }
    void begin();

    return {
      stop() {
        isStopped = true;
        clearTimeout(timer);
      },
    };
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

/** What an admin is told: of a defect the words of the code itself. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const hasMessage = typeof cause === 'object' && cause !== null && 'message' in cause;
  return error instanceof AppError && hasMessage ? String(cause.message) : error.message;
}
