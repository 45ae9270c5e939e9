import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@recordbus/process/logging';
import type { ReadyMessage } from '@recordbus/process/run-process';
import { StartFailure } from '@recordbus/process/start-failure';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Pause before a restart, in milliseconds. */
const restartDelayMs = 500;

/** A service in its own process, which is restarted at the same address when it dies. */
export interface SupervisedProcess {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly setupToken: string | undefined;
  stop(): Promise<void>;
}

interface SupervisedOptions {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Called after each restart. */
  readonly onRestart: () => void;
}

/** Starts a service. Resolves when it answers; rejects when its first start fails. */
export async function startSupervised({
  name,
  environment,
  log,
  onRestart,
}: SupervisedOptions): Promise<SupervisedProcess> {
  let stopping = false;
  let child = launch(name, environment);
  const first = await untilReady(name, child);
  // The gateway keeps this address, so a restart has to use it again.
  const sameAddress = { ...environment, SERVICE_PORT: new URL(first.url).port };

  async function keepAlive(): Promise<void> {
    for (;;) {
      const [code, signal] = child.exitCode === null && child.signalCode === null ? await once(child, 'exit') : [];
      if (stopping) return;
      log.error({ part: name, code, signal }, 'a service died, restarting');
      await setTimeout(restartDelayMs);
      if (stopping) return;
      child = launch(name, sameAddress);
      await untilReady(name, child).then(onRestart, (error) =>
        log.error({ err: error, part: name }, 'cannot restart a service'),
      );
    }
  }
  void keepAlive();

  return {
    name,
    url: first.url,
    get pid() {
      return child.pid ?? 0;
    },
    setupToken: first.setupToken,
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** A service's program has the same place and ending as this process's own, `infra/local/src/main.ts`. */
function programOf(service: string): string {
  const own = process.argv[1] ?? '';
  return join(dirname(own), '../../../services', service, 'src', basename(own));
}

function launch(name: string, environment: Readonly<Record<string, string>>): ChildProcess {
  return spawn(
    process.execPath,
    ['--require', `${root}infra/launch/tether.cjs`, programOf(name)],
    // Its own session, so that a terminal's Ctrl-C reaches only the parent, which stops its services in order.
    { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, ...environment } },
  );
}

function untilReady(name: string, child: ChildProcess): Promise<ReadyMessage> {
  return Promise.race([
    once(child, 'message').then(([message]) => message as ReadyMessage),
    once(child, 'exit').then(([code]) => {
      throw new StartFailure(`The service ${name} did not start (exit code ${code}).`);
    }),
  ]);
}
