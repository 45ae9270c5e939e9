import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, Hopeless } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { type Child, endChild, startChild } from '../harness/processes/child.ts';
import { findFreePort } from '../harness/processes/free-port.ts';
import {
  environmentOf,
  type Ground,
  type ServiceName,
  usualEnvironment,
  withoutOwnVariables,
} from '../harness/stacks/stack.ts';
import { startBalancer } from './balancer.ts';
import type { Version } from './check-out.ts';

/** The gateway comes last: it asks the others for their routes. */
const services: readonly ServiceName[] = ['records', 'auth', 'realtime', 'admin', 'webhooks', 'gateway'];
const startTimeoutMs = 120_000;
/** Kubernetes waits 40 s by the chart. On a busy machine a stop takes longer; only one that hangs fails the test. */
const graceMs = 120_000;

interface Replica {
  readonly service: ServiceName;
  readonly version: Version;
  readonly address: string;
  readonly url: string;
  readonly process: Child;
}

interface GatewayStop {
  readonly version: Version;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Two replicas of each service as processes, which are replaced one by one. */
export interface RollingStack extends AsyncDisposable {
  readonly url: string;
  readonly setupToken: string | undefined;
  /** What replicas logged as an error. */
  readonly errors: readonly string[];
  /** Exits other than 0 after SIGTERM. */
  readonly badExits: readonly string[];
  /** When gateways ended, from SIGTERM to the exit. */
  readonly gatewayStops: readonly GatewayStop[];
  /**
   * Replaces each replica: starts the new one, waits until it is ready, and ends the old one with SIGTERM. After
   * `oneByOneMs` it replaces all services' replicas at once, but each service's one by one. Returns how many came alone.
   */
  rollTo(version: Version, oneByOneMs: number): Promise<number>;
}

/** Starts all services in a version on a ground. */
export async function startRollingStack(ground: Ground, first: Version): Promise<RollingStack> {
  await using cleanUp = new AsyncDisposableStack();
  const balancer = cleanUp.use(await startBalancer());
  const namesFile = join(ground.dataDirectory, 'names.json');
  const ports = new Map<ServiceName, number>();
  for (const service of services) ports.set(service, await findFreePort());
  const serving: Replica[] = [];
  const children = new Set<Child>();
  const errors: string[] = [];
  const badExits: string[] = [];
  const gatewayStops: GatewayStop[] = [];
  let [lastAddress, setupToken]: [number, string | undefined] = [1, undefined];
  cleanUp.defer(async () => {
    await Promise.all([...children].map((child) => endChild(child, 'SIGTERM', 5000)));
  });
  publish();

  function publish(): void {
    const addressesOf = (name: ServiceName) =>
      serving.filter(({ service }) => service === name).map(({ address }) => address);
    const names = Object.fromEntries(services.map((name) => [hostOf(name), addressesOf(name)]));
    writeFileSync(`${namesFile}.part`, JSON.stringify(names));
    renameSync(`${namesFile}.part`, namesFile);
    balancer.servers = serving.filter(({ service }) => service === 'gateway').map(({ url }) => new URL(url));
  }

  async function start(service: ServiceName, version: Version): Promise<Replica> {
    lastAddress += 1;
    const address = `127.0.0.${lastAddress}`;
    const urls = services.map((name) => [
      `SERVICE_${name.toUpperCase()}_URL`,
      `http://${hostOf(name)}:${ports.get(name)}`,
    ]);
    const child = startChild(
      process.execPath,
      ['--import', join(import.meta.dirname, 'names.ts'), join(version.directory, `services/${service}/src/main.ts`)],
      {
        ipc: true,
        cwd: version.directory,
        env: {
          ...withoutOwnVariables(process.env),
          ...environmentOf(ground),
          ...usualEnvironment,
          ...Object.fromEntries(urls),
          SERVICE_RELEASE_URL: 'http://127.0.0.1:1',
          SERVICE_HOST: address,
          SERVICE_PORT: String(ports.get(service)),
          TEST_UPGRADE_NAMES: namesFile,
        },
      },
    );
    children.add(child);
    child.onLine((line) => {
      if (/"level":"(error|fatal)"/.test(line) || !line.startsWith('{')) errors.push(`${version.name} ${line}`);
    });
    const message = await eventually(
      `${service} in ${version.name} starts`,
      () => {
        if (!child.isRunning) throw new Hopeless(`${service} in ${version.name}: ${child.lines.slice(-20).join('\n')}`);
        return child.messages[0];
      },
      { timeoutMs: startTimeoutMs },
    );
    const url = textAt(message, 'url');
    setupToken ??= (message as { setupToken?: string }).setupToken;
    await eventually(`${service} is ready`, async () => (await fetch(`${url}/readyz`)).status === 200, {
      timeoutMs: startTimeoutMs,
    });
    return { service, version, address, url, process: child };
  }

  async function replace(old: Replica, version: Version): Promise<void> {
    serving.push(await start(old.service, version));
    serving.splice(serving.indexOf(old), 1);
    publish();
    const fromMs = performance.now();
    const { code, signal } = await endChild(old.process, 'SIGTERM', graceMs);
    children.delete(old.process);
    if (old.service === 'gateway') gatewayStops.push({ version: old.version, fromMs, untilMs: performance.now() });
    if (code !== 0) badExits.push(`${old.service} in ${old.version.name}: ${signal ?? code}`);
  }

  for (const service of services) {
    serving.push(await start(service, first));
    publish();
  }
  const seconds = services.map((service) => start(service, first));
  serving.push(...(await Promise.all(seconds)));
  publish();
  const parts = cleanUp.move();
  return {
    url: balancer.url,
    setupToken,
    errors,
    badExits,
    gatewayStops,
    async rollTo(version, oneByOneMs) {
      const untilMs = performance.now() + oneByOneMs;
      const olds = [...serving];
      let alone = 0;
      for (let old = olds.shift(); old; old = performance.now() < untilMs ? olds.shift() : undefined) {
        await replace(old, version);
        alone += 1;
      }
      const replaceAll = async (service: ServiceName): Promise<void> => {
        for (const old of olds.filter((one) => one.service === service)) await replace(old, version);
      };
      await Promise.all(services.map(replaceAll));
      return alone;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const hostOf = (service: ServiceName): string => `${service}.upgrade.test`;
