import type { Logger } from './logging.ts';

/** Things to stop when the process ends, each with its name for the log. Stopped in the reverse order of adding. */
export interface Lifecycle {
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** Stops everything once and ends the process; a reason that is an error makes the exit code 1. */
  stop(reason: string, exitCode?: number): Promise<void>;
}

interface LifecycleOptions {
  log: Logger;
  /** Deadline of each thing's stop; one that hangs is left behind and named. */
  stopTimeoutMs?: number;
  /** Hears of the first signal before anything is stopped, and gives the exit code; it is 0 when not given. */
  onSignal?: (signal: NodeJS.Signals) => number;
  exit?: (code: number) => void;
}

/** A terminal's Ctrl-C arrives from the terminal, from npm and from the launcher: one intent, several signals. */
const sameIntentMs = 1500;

/**
 * Makes the lifecycle of a process and takes over its signals: the first SIGTERM, SIGINT or SIGHUP stops everything
 * in order and exits 0 (or with what `onSignal` says), a later one exits at once. An error nobody caught is logged, then everything is stopped and the exit code is 1.
 */
export function createLifecycle({
  log,
  stopTimeoutMs = 20_000,
  onSignal = () => 0,
  exit = process.exit,
}: LifecycleOptions): Lifecycle {
  const steps: { name: string; stop: () => Promise<void> | void }[] = [];
  let stopping: Promise<void> | undefined;
  let stoppingSinceMs = 0;

  async function stopAll(reason: string, exitCode: number): Promise<void> {
    log.info({ reason }, 'stopping');
    let code = exitCode;
    for (const { name, stop } of steps.reverse()) {
      try {
        await withDeadline(stop(), stopTimeoutMs);
      } catch (error) {
        log.error({ err: error, part: name }, 'did not stop cleanly');
        code = 1;
      }
    }
    log.flush();
    exit(code);
  }

  const lifecycle: Lifecycle = {
    onStop: (name, stop) => {
      steps.push({ name, stop });
    },
    stop(reason, exitCode = 0) {
      stoppingSinceMs ||= Date.now();
      stopping ??= stopAll(reason, exitCode);
      return stopping;
    },
  };

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stopping) void lifecycle.stop(signal, onSignal(signal));
      else if (Date.now() - stoppingSinceMs > sameIntentMs) exit(1);
    });
  }
  const crash = (error: unknown) => {
    log.fatal({ err: error }, 'an error nobody caught');
    void lifecycle.stop('an error nobody caught', 1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  return lifecycle;
}

async function withDeadline(work: Promise<void> | void, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still not stopped after ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
