import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process started for a test: what it wrote, how it ended, and a way to end it. */
export interface Child {
  readonly pid: number;
  /** Every line of standard output and standard error so far. */
  readonly lines: readonly string[];
  readonly exited: Promise<Exit>;
  readonly isRunning: boolean;
  kill(signal: NodeJS.Signals): void;
  /** The first message over its IPC channel that fits. Throws with the last lines of its output if it ends before. */
  message<T>(fits: (message: unknown) => message is T): Promise<T>;
}

/** Starts a program with its output collected; `ipc` opens a channel for its messages. */
export function startChild(
  command: string,
  args: readonly string[],
  { ipc = false, ...options }: SpawnOptions & { ipc?: boolean } = {},
): Child {
  const process = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc' as const] : [])],
  });
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  const messages = collectMessages(process);
  // "close" comes after the last line; an error is a program that could not be started.
  const exited = Promise.race([
    once(process, 'close').then(([code, signal]): Exit => ({ code, signal })),
    once(process, 'error').then(([error]) => {
      throw error;
    }),
  ]);
  exited.catch(() => {});
  return {
    get pid() {
      if (process.pid === undefined) throw new Error(`${command} did not start`);
      return process.pid;
    },
    lines,
    exited,
    get isRunning() {
      return process.exitCode === null && process.signalCode === null;
    },
    kill: (signal) => {
      process.kill(signal);
    },
    async message(fits) {
      const ended = exited.then(({ code, signal }) => {
        throw new Error(`${command} ended (${code ?? signal}):\n${lines.slice(-20).join('\n')}`);
      });
      ended.catch(() => {});
      return Promise.race([messages.first(fits), ended]);
    },
  };
}

function collectMessages(process: ChildProcess) {
  const seen: unknown[] = [];
  const waiting = new Set<(message: unknown) => void>();
  process.on('message', (message) => {
    seen.push(message);
    for (const look of waiting) look(message);
  });
  return {
    first<T>(fits: (message: unknown) => message is T): Promise<T> {
      const found = seen.find(fits);
      if (found !== undefined) return Promise.resolve(found as T);
      return new Promise((resolve) => {
        const look = (message: unknown) => {
          if (!fits(message)) return;
          waiting.delete(look);
          resolve(message);
        };
        waiting.add(look);
      });
    },
  };
}

/** Ends a process the polite way, and after `graceMs` the other way. */
export async function endChild(child: Child, signal: NodeJS.Signals = 'SIGTERM', graceMs = 10_000): Promise<Exit> {
  if (child.isRunning) {
    child.kill('SIGCONT');
    child.kill(signal);
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  try {
    return await child.exited;
  } finally {
    clearTimeout(timer);
  }
}
