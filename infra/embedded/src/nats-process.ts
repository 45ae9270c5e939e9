import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ServerProcess, type StopStep, spawnServer } from './server-process.ts';

interface NatsServer {
  readonly binary: string;
  /** Holds the streams, the configuration and the log. */
  readonly home: string;
  readonly password: string;
}

/** A running nats-server. */
export interface NatsProcess extends ServerProcess {
  /** Where clients connect, on 127.0.0.1. */
  readonly port: number;
  /** Where it tells its health, on 127.0.0.1. */
  readonly monitorPort: number;
}

export const userName = 'recordbus';

export const stopSteps: readonly StopStep[] = [
  { signal: 'SIGTERM', withinMs: 10_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

/** Longest wait for the server, in milliseconds. It includes reading a large stream back. */
const readyTimeoutMs = 60_000;

/**
 * The event stream has a size of its own. The server's own limit, three quarters of what is free at its start, would
 * refuse changes of a stream that an emptier disk allowed.
 */
const maxStoreBytes = 2 ** 50;

/** Starts the server on a port, or on any free one. Throws with its last lines when it does not become ready. */
export async function startNatsProcess({ binary, home, password }: NatsServer, port?: number): Promise<NatsProcess> {
  const portsDirectory = join(home, 'ports');
  await rm(portsDirectory, { recursive: true, force: true });
  await mkdir(portsDirectory);
  const configuration = join(home, 'nats-server.conf');
  // In the server's language, a superset of JSON. Port -1 is any free port.
  const settings = {
    server_name: 'recordbus',
    host: '127.0.0.1',
    port: port ?? -1,
    http: '127.0.0.1:-1',
    ports_file_dir: portsDirectory,
    jetstream: { store_dir: home, sync_interval: 'always', max_file_store: maxStoreBytes },
    authorization: { user: userName, password },
  };
  await writeFile(configuration, JSON.stringify(settings), { mode: 0o600 });
  const server = await spawnServer({
    name: 'NATS',
    command: binary,
    args: ['--config', configuration],
    directory: home,
    stopSteps,
  });
  const portsFile = join(portsDirectory, `${basename(binary)}_${server.pid}.ports`);
  return { ...server, ...(await server.ready(() => readPorts(portsFile), readyTimeoutMs)) };
}

/** The server writes its addresses to a file once it accepts connections. */
async function readPorts(file: string): Promise<Pick<NatsProcess, 'port' | 'monitorPort'> | undefined> {
  const text = (await readFile(file, 'utf8').catch(() => '')).replaceAll(/\s+/g, '');
  const port = /"nats":\["nats:\/\/127\.0\.0\.1:(\d+)"/.exec(text)?.[1];
  const monitorPort = /"monitoring":\["http:\/\/127\.0\.0\.1:(\d+)"/.exec(text)?.[1];
  return port === undefined || monitorPort === undefined
    ? undefined
    : { port: Number(port), monitorPort: Number(monitorPort) };
}
