import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A bench process, controlled over its IPC channel. */
interface BenchProcess {
  readonly pid: number;
  /** Waits for its next message. Throws with its last output when it ends first. */
  message<T>(): Promise<T>;
  send(message: object): void;
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
}

interface StartOptions {
  readonly nodeFlags?: readonly string[];
  readonly args?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

const keptOutputLength = 4000;
const stopTimeoutMs = 20_000;

/** Starts a program from this repository on the Node that runs the bench. */
export function startProcess(
  file: string,
  { nodeFlags = [], args = [], environment }: StartOptions = {},
): BenchProcess {
  const child = spawn(process.execPath, [...nodeFlags, file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // A separate session: Ctrl-C reaches only the bench, which stops its processes in order.
    detached: true,
    env: environment ?? process.env,
  });
  const output = keepOutput(child);
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${file} ended (${code ?? signal}):\n${output()}`);
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    message: async <T>() => Promise.race([once(child, 'message').then(([message]) => message as T), ended]),
    send: (message) => void child.send(message),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await ended.catch(() => {});
      clearTimeout(timer);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended.catch(() => {});
    },
  };
}

function keepOutput(child: ChildProcess): () => string {
  let kept = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      kept = (kept + text).slice(-keptOutputLength);
    });
  return () => kept;
}
