import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process started by a test: its output, its exit, and how to stop it. */
export interface Child {
  readonly pid: number;
  /** Every line on standard output and standard error so far. */
  readonly lines: readonly string[];
  readonly exited: Promise<Exit>;
  readonly isRunning: boolean;
  kill(signal: NodeJS.Signals): void;
  /** Every message over its IPC channel so far. */
  readonly messages: readonly unknown[];
  /** Calls the listener with every further line. Returns a function that unsubscribes. */
  onLine(listener: (line: string) => void): () => void;
}

/** Starts a program and collects its output. `ipc` opens a channel for its messages. */
export function startChild(
  command: string,
  args: readonly string[],
  { ipc = false, ...options }: SpawnOptions & { ipc?: boolean } = {},
): Child {
  const child = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc' as const] : [])],
  });
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  const take = (line: string): void => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', take);
  }
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  endWithThisProcess(child, options.detached === true);
  // "close" follows the last line; "error" means that the program did not start.
  const exited = Promise.race([
    once(child, 'close').then(([code, signal]): Exit => ({ code, signal })),
    once(child, 'error').then(([error]) => {
      throw error;
    }),
  ]);
  exited.catch(() => {});
  return {
    get pid() {
      if (child.pid === undefined) throw new Error(`${command} did not start`);
      return child.pid;
    },
    lines,
    exited,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    kill: (signal) => {
      child.kill(signal);
    },
    messages,
    onLine(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A process that ends with the test that started it. A detached process ends with its whole group. */
function endWithThisProcess(child: ChildProcess, isGroup: boolean): void {
  if (child.pid === undefined) return;
  const release = whenThisProcessEnds('kill -KILL "$1"', [String(isGroup ? -child.pid : child.pid)]);
  child.once('exit', release);
}

/**
 * Cleans up after a test that a timeout, Ctrl-C or even SIGKILL ends: a shell waits until its input ends, which closes
 * when this process ends for any reason, and then runs the commands. Returns a function that cancels this.
 */
export function whenThisProcessEnds(commands: string, args: readonly string[], options: SpawnOptions = {}): () => void {
  const guard = spawn('sh', ['-c', `read -r line || { ${commands}; }`, 'guard', ...args], {
    ...options,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  const { stdin } = guard;
  stdin?.on('error', () => {});
  if (stdin instanceof Socket) stdin.unref();
  return () => {
    stdin?.end('it is not needed\n');
  };
}

/** Stops a process with the signal, and with SIGKILL after `graceMs` milliseconds. */
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
