import type { Lifecycle } from '@recordbus/process/lifecycle';
import type { Logger } from '@recordbus/process/logging';
import { freePort } from './choose-port.ts';
import type { RunningStack } from './running-stack.ts';
import { type SupervisedProcess, startSupervised } from './supervised-process.ts';

interface ProcessesOptions {
  /** Every service's configuration: the database's and the bus's address, the secret, the data directory. */
  readonly environment: Readonly<Record<string, string>>;
  /** The gateway's host and port; with port 0 a free one. */
  readonly host: string;
  readonly gatewayPort: number;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly onRestart: () => void;
}

/** Records first: the services that call it wait for its address. */
const behindTheGateway = ['records', 'auth', 'realtime', 'admin', 'webhooks'] as const;
const callRecords: ReadonlySet<string> = new Set(['auth', 'realtime']);

/**
 * Runs each service in its own process and starts the gateway last. They communicate as they do on several machines.
 */
export async function startSeparateProcesses(options: ProcessesOptions): Promise<RunningStack> {
  const { environment, host, log, lifecycle, onRestart } = options;
  // Known before the gateway starts: the records service calls it.
  const gatewayPort = options.gatewayPort || (await freePort(host));
  const processes: SupervisedProcess[] = [];

  async function start(name: string, more: Record<string, string>): Promise<SupervisedProcess> {
    const started = await startSupervised({ name, environment: { ...environment, ...more }, log, onRestart });
    lifecycle.onStop(name, () => started.stop());
    processes.push(started);
    return started;
  }

  const inner = { SERVICE_HOST: '127.0.0.1', SERVICE_PORT: '0' };
  const ofRecords = { ...inner, SERVICE_GATEWAY_URL: addressOf(host, gatewayPort) };
  const starting = new Map<string, Promise<SupervisedProcess>>();
  const urlOfRecords = async () => ({ SERVICE_RECORDS_URL: (await starting.get('records'))?.url ?? '' });
  for (const name of behindTheGateway)
    starting.set(
      name,
      callRecords.has(name)
        ? urlOfRecords().then((more) => start(name, { ...inner, ...more }))
        : start(name, name === 'records' ? ofRecords : inner),
    );
  const upstreams = await Promise.all(starting.values());
  const urls = upstreams.map(({ name, url }) => [`SERVICE_${name.toUpperCase()}_URL`, url]);
  const gateway = await start('gateway', { ...Object.fromEntries(urls), SERVICE_PORT: String(gatewayPort) });
  return {
    url: gateway.url,
    setupToken: upstreams.find(({ setupToken }) => setupToken)?.setupToken,
    services: () => Object.fromEntries(processes.map(({ name, pid, url }) => [name, { pid, url }])),
  };
}

/** An address that reaches a server on this host: one that listens everywhere is on the loopback address too. */
function addressOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
