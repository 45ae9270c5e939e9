import { createServer } from 'node:net';
import { ConfigError } from '@recordbus/shared/config';

const preferredPort = 8080;

/** The port to serve on: the one that is asked for, which must be free, else 8080, else any other. */
export async function choosePort(wanted: number | undefined, host: string): Promise<number> {
  if (wanted !== undefined) {
    if (await isFree(wanted, host)) return wanted;
    throw new ConfigError(`SERVICE_PORT ${wanted} is taken by another program.`);
  }
  return (await isFree(preferredPort, host)) ? preferredPort : 0;
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
