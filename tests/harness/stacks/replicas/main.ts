import { join } from 'node:path';
import { eventually, Hopeless } from '../../eventually.ts';
import { textAt } from '../../json.ts';
import { type Child, endChild, startChild } from '../../processes/child.ts';
import { findFreePort } from '../../processes/free-port.ts';
import { programPath } from '../program.ts';
import { startBalancer } from './balancer.ts';

/**
 * The entry for topology `replicas`: several processes for each service, and a balancer in front of the gateways. It
 * reports to the test as `npm start`'s entry does. Every service replica has its own loopback address and the same
 * port, and one name has all these addresses.
 */
const count = Number(process.env.TEST_REPLICAS ?? 2);
const name = 'replicas.test';
const addresses = Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`);

/** The gateway comes last: it asks the others for their routes. */
const inner = ['records', 'auth', 'realtime', 'admin', 'webhooks'] as const;
const startTimeoutMs = 300_000;

const ports = new Map<string, number>();
for (const service of [...inner, 'gateway']) ports.set(service, await findFreePort());
const urls = Object.fromEntries(
  inner.map((service) => [`SERVICE_${service.toUpperCase()}_URL`, `http://${name}:${ports.get(service)}`]),
);

interface Replica {
  readonly service: string;
  readonly process: Child;
  readonly url: string;
  readonly setupToken: string | undefined;
}

const children: Child[] = [];
process.once('SIGTERM', () => void stop());

async function start(service: string, address: string): Promise<Replica> {
  const preload = ['--import', join(import.meta.dirname, 'names.ts')];
  const child = startChild(process.execPath, [...preload, programPath(`services/${service}/src/main`)], {
    ipc: true,
    env: {
      ...process.env,
      ...urls,
      TEST_REPLICAS_NAME: name,
      TEST_REPLICAS_ADDRESSES: addresses.join(','),
      SERVICE_HOST: address,
      SERVICE_PORT: String(ports.get(service)),
    },
  });
  children.push(child);
  child.onLine((line) => process.stdout.write(`${line}\n`));
  const message = await eventually(
    `${service} at ${address} is ready`,
    () => {
      if (!child.isRunning) throw new Hopeless(child.lines.slice(-20).join('\n'));
      return child.messages[0];
    },
    { timeoutMs: startTimeoutMs },
  );
  const { setupToken } = message as { setupToken?: string };
  return { service, process: child, url: textAt(message, 'url'), setupToken };
}

const startAll = (services: readonly string[], at: readonly string[]): Promise<Replica[]> =>
  Promise.all(services.flatMap((service) => at.map((address) => start(service, address))));

const [first = '', ...others] = addresses;
const replicas = [...(await startAll(inner, [first])), ...(await startAll(inner, others))];
replicas.push(...(await startAll(['gateway'], addresses)));
const balancer = await startBalancer(replicas.filter(({ service }) => service === 'gateway').map(({ url }) => url));

process.send?.({
  ready: true,
  name: 'local',
  url: balancer.url,
  setupToken: replicas.find(({ setupToken }) => setupToken)?.setupToken,
  // Each service's first replica.
  services: Object.fromEntries(
    replicas.toReversed().map(({ service, process: { pid }, url }) => [service, { pid, url }]),
  ),
});

async function stop(): Promise<void> {
  await Promise.all(children.map((child) => endChild(child, 'SIGTERM', 8000)));
  process.exit(0);
}
