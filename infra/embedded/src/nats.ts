import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '@recordbus/process/logging';
import type { EmbeddedServer } from './embedded-server.ts';
import { generatedPassword } from './generated-password.ts';
import { findNatsBinary } from './nats-binary.ts';
import { type StopStep, spawnServer, stopLeftover } from './server-process.ts';

interface NatsOptions {
  /**
   * Holds the streams, the password, the configuration and the server's log. One server at a time. A server that npm
   * lacks is kept next to it, in `cache`.
   */
  readonly directory: string;
  readonly log: Logger;
}

const userName = 'recordbus';

const stopSteps: readonly StopStep[] = [
  { signal: 'SIGTERM', withinMs: 10_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

/** Longest wait for the server, in milliseconds. It includes reading a large stream back. */
const readyTimeoutMs = 60_000;

/**
 * Starts nats-server with JetStream on a free port on 127.0.0.1, with its streams in `directory`. It acknowledges a
 * message once the message is on the disk. Throws with the server's last lines when it does not become ready.
 */
export async function startNats({ directory, log }: NatsOptions): Promise<EmbeddedServer> {
  const home = resolve(directory);
  const binary = await findNatsBinary({ cacheDirectory: join(home, '..', 'cache'), log });
  await mkdir(home, { recursive: true, mode: 0o700 });
  const leftover = await stopLeftover(home, stopSteps);
  if (leftover !== undefined) log.warn({ pid: leftover }, "stopped an earlier stack's NATS server");
  const password = await generatedPassword(home, 'password');
  const portsDirectory = join(home, 'ports');
  await rm(portsDirectory, { recursive: true, force: true });
  await mkdir(portsDirectory);
  const configuration = join(home, 'nats-server.conf');
  await writeFile(configuration, describe(home, portsDirectory, password), { mode: 0o600 });

  const server = await spawnServer({
    name: 'NATS',
    command: binary,
    args: ['--config', configuration],
    directory: home,
    stopSteps,
  });
  const port = await server.ready(() => findPort(portsDirectory, binary, server.pid), readyTimeoutMs);
  log.debug({ pid: server.pid, port }, 'NATS is ready');
  const url = `nats://${userName}:${password}@127.0.0.1:${port}`;
  return { url, pid: server.pid, exited: server.exited, stop: server.stop };
}

/** Returns the configuration in the server's language, a superset of JSON. Port -1 is any free port. */
const describe = (home: string, portsDirectory: string, password: string): string =>
  JSON.stringify({
    server_name: 'recordbus',
    host: '127.0.0.1',
    port: -1,
    ports_file_dir: portsDirectory,
    jetstream: { store_dir: home, sync_interval: 'always' },
    authorization: { user: userName, password },
  });

/** The server writes its addresses to a file once it accepts connections. */
async function findPort(directory: string, binary: string, pid: number): Promise<number | undefined> {
  const name = binary.slice(binary.lastIndexOf('/') + 1);
  const text = await readFile(join(directory, `${name}_${pid}.ports`), 'utf8').catch(() => '');
  const port = /"nats":\s*\["nats:\/\/127\.0\.0\.1:(\d+)"/.exec(text.replaceAll(/\s+/g, ''))?.[1];
  return port === undefined ? undefined : Number(port);
}
