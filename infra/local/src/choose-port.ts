import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listenRefusal } from '@recordbus/http';
import { ConfigError } from '@recordbus/process/config';

/** The port that guides name. */
export const preferredPort = 8080;
const pollMs = 50;

interface PortOptions {
  /** The configured port; without one it is 8080, or any free port. */
  readonly port: number | undefined;
  readonly host: string;
  /** How long to wait for a taken port, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Chooses the port to serve on: the configured one, which must be free, or 8080, or any free port. Throws ConfigError
 * for an address that cannot be used.
 */
export async function choosePort({ port, host, waitMs }: PortOptions): Promise<number> {
  const wanted = port ?? preferredPort;
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    if (await isFree(wanted, host)) return wanted;
    if (performance.now() >= deadlineMs) break;
    await delay(pollMs);
  }
  if (port === undefined) return 0;
  throw new ConfigError(`SERVICE_PORT ${port} is taken by another program.`);
}

/** Finds a port that is free now. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => reject(listenRefusal(error, 0, host)));
    probe.listen({ port: 0, host, exclusive: true }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(listenRefusal(error, port, host)),
    );
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
