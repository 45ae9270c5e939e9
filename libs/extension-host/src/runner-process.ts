import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { environmentPrefix } from './environment-prefix.ts';
import type { FromRunner, FromWorker, ToRunner, ToWorker } from './protocol.ts';

/** A worker in the runner. */
export interface RemoteWorker {
  post(message: ToWorker): void;
  /** Terminates the worker at once; `onEnd` follows. */
  end(): void;
}

interface WorkerListener {
  onMessage(message: FromWorker): void;
  /** Called once, after the last message. */
  onEnd(reason: string): void;
}

/** The workers' process. It starts with the first worker, and again after it has died. */
export interface RunnerProcess {
  start(options: { readonly file: string; readonly memoryMb: number }, listener: WorkerListener): RemoteWorker;
  stop(): Promise<void>;
}

const runnerFile = fileURLToPath(new URL('./worker/runner.ts', import.meta.url));

interface RunnerOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** Its processes give way to others: a number for `os.setPriority`. */
  readonly priority?: number;
}

/** Creates a host's runner; no process runs before the first worker starts. */
export function createRunnerProcess({ environment = process.env, priority }: RunnerOptions = {}): RunnerProcess {
  const listeners = new Map<number, WorkerListener>();
  let child: ChildProcess | undefined;
  let lastWorker = 0;

  function receive(message: FromRunner): void {
    if (message.kind === 'said') listeners.get(message.worker)?.onMessage(message.message);
    else end(message.worker, message.reason);
  }

  function end(id: number, reason: string): void {
    const listener = listeners.get(id);
    listeners.delete(id);
    listener?.onEnd(reason);
  }

  function launch(): ChildProcess {
    const launched = forkRunner(environment, receive);
    if (priority !== undefined && launched.pid !== undefined) giveWay(launched.pid, priority);
    launched.once('exit', (code, signal) => {
      if (child === launched) child = undefined;
      for (const id of [...listeners.keys()]) end(id, `the extension process died (${signal ?? code})`);
    });
    return launched;
  }

  const send = (message: ToRunner): void => {
    if (child?.connected) child.send(message);
  };

  return {
    start({ file, memoryMb }, listener) {
      child ??= launch();
      lastWorker += 1;
      const worker = lastWorker;
      listeners.set(worker, listener);
      send({ kind: 'start', worker, file, memoryMb });
      return {
        post: (message) => send({ kind: 'post', worker, message }),
        end: () => send({ kind: 'end', worker }),
      };
    },
    async stop() {
      if (!child) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function forkRunner(environment: NodeJS.ProcessEnv, receive: (message: FromRunner) => void): ChildProcess {
  const launched = fork(runnerFile, [], {
    serialization: 'advanced',
    // An extension directory needs no package.json.
    execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'],
    env: ownVariables(environment),
  });
  launched.on('message', (message: FromRunner) => {
    try {
      receive(message);
    } catch {
      // An invalid message means that the process is broken; it must not harm the service.
      launched.kill('SIGKILL');
    }
  });
  // A send to a dying process fails. Its exit rejects the calls.
  launched.on('error', () => {});
  return launched;
}

/** Sets a process's priority. A sandbox may refuse that; then the process competes like any other. */
function giveWay(pid: number, priority: number): void {
  try {
    setPriority(pid, priority);
  } catch {
    // The process may have died already, too.
  }
}

/** Returns the variables for the process and for extensions: none of the service's secrets. */
const ownVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) =>
        name.startsWith(environmentPrefix) || ['NODE_COMPILE_CACHE', 'TZ', 'NODE_EXTRA_CA_CERTS'].includes(name),
    ),
  );
