import { takeFailure } from '@recordbus/request/request-scope';
import type { Logger } from './logging.ts';

/** The parts to stop when the process ends, each with a name for the log. They stop in reverse order. */
export interface Lifecycle {
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** Stops everything once and ends the process; the exit code is 1 if a part does not stop cleanly. */
  stop(reason: string, exitCode?: number): Promise<void>;
}

interface LifecycleOptions {
  log: Logger;
  /** The longest wait for each part; one that hangs is abandoned and logged. */
  stopTimeoutMs?: number;
  /** Called at the first signal before anything is stopped; returns the exit code, which is 0 by default. */
  onSignal?: (signal: NodeJS.Signals) => number;
  exit?: (code: number) => void;
}

/** Ctrl-C arrives from the terminal, from npm and from the launcher. Signals within this time count as one. */
const repeatedSignalMs = 1500;

/**
 * Creates a process's lifecycle and handles its signals: the first SIGTERM, SIGINT or SIGHUP stops everything in order
 * and exits with 0 (or with what `onSignal` returns), a later one exits at once. An uncaught error in a request's
 * callback is logged and fails that request. Any other is logged, then everything is stopped and the exit code is 1.
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
      else if (Date.now() - stoppingSinceMs > repeatedSignalMs) exit(1);
    });
  }
  const crash = (error: unknown) => {
    const fields = takeFailure(error);
    if (fields) {
      log.error({ ...fields, err: error }, 'an uncaught error failed its request');
      return;
    }
    log.fatal({ err: error }, 'uncaught error');
    void lifecycle.stop('uncaught error', 1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  return lifecycle;
}

/** Something that runs from its start to its stop. */
interface Part {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a part that stops with the process, even when its start fails. Returns it. */
export async function startPart<P extends Part>(
  lifecycle: Pick<Lifecycle, 'onStop'>,
  name: string,
  part: P,
): Promise<P> {
  lifecycle.onStop(name, () => part.stop());
  await part.start();
  return part;
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
