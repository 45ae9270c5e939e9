import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { every, skipped } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { EmbeddedServer } from './embedded-server.ts';
import { generatedPassword } from './generated-password.ts';
import { findNatsBinary } from './nats-binary.ts';
import { type NatsProcess, startNatsProcess, stopSteps, userName } from './nats-process.ts';
import { stopLeftover } from './server-process.ts';
import { findStuckStream, hasRoom } from './stuck-streams.ts';

interface NatsOptions {
  /**
   * Holds the streams, the password, the configuration and the server's log. One server at a time. A server that npm
   * lacks is kept next to it, in `cache`.
   */
  readonly directory: string;
  readonly log: Logger;
}

const checkEveryMs = 5_000;

/**
 * Starts nats-server with JetStream on a free port on 127.0.0.1, with its streams in `directory`. It acknowledges a
 * message once the message is on the disk. After a full disk it starts again, on the same port, as soon as there is
 * room. Throws with the server's last lines when it does not become ready.
 */
export async function startNats({ directory, log }: NatsOptions): Promise<EmbeddedServer> {
  const home = resolve(directory);
  const binary = await findNatsBinary({ cacheDirectory: join(home, '..', 'cache'), log });
  await mkdir(home, { recursive: true, mode: 0o700 });
  const leftover = await stopLeftover(home, stopSteps);
  if (leftover !== undefined) log.warn({ pid: leftover }, "stopped an earlier stack's NATS server");
  const server = { binary, home, password: await generatedPassword(home, 'password') };

  const exited = Promise.withResolvers<string>();
  async function run(port?: number): Promise<NatsProcess> {
    const started = await startNatsProcess(server, port);
    void started.exited.then(exited.resolve);
    log.debug({ pid: started.pid, port: started.port }, 'NATS is ready');
    return started;
  }
  let current = await run();

  const check = every({
    name: 'restart NATS after a full disk',
    log,
    intervalMs: checkEveryMs,
    firstAfterMs: checkEveryMs,
    async run() {
      const problem = await findStuckStream(current.monitorPort);
      if (problem === undefined || !(await hasRoom(home))) return skipped;
      log.warn({ problem }, 'the disk was full: restarting NATS, whose stream refuses events until then');
      await current.stop();
      try {
        current = await run(current.port);
      } catch (error) {
        exited.resolve(error instanceof Error ? error.message : String(error));
      }
      return undefined;
    },
  });
  check.start();

  return {
    url: `nats://${userName}:${server.password}@127.0.0.1:${current.port}`,
    get pid() {
      return current.pid;
    },
    exited: exited.promise,
    async stop() {
      await check.stop();
      await current.stop();
    },
  };
}
