import { createAdmin } from '@recordbus/admin';
import { createAuth, prepareFirstAdmin } from '@recordbus/auth';
import { connectBus, eventStream } from '@recordbus/bus';
import { createEnvelope } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import {
  createAccounts,
  createGateway,
  createRequestLog,
  createSharedWindows,
  localUpstream,
} from '@recordbus/gateway';
import { createRecords } from '@recordbus/records';
import { createSettings } from '@recordbus/settings';
import type { Config } from '@recordbus/shared/config';
import { listen } from '@recordbus/shared/http';
import type { Lifecycle } from '@recordbus/shared/lifecycle';
import { createLogger, type Logger } from '@recordbus/shared/logging';
import type { Metrics } from '@recordbus/shared/metrics';
import { openStorage } from '@recordbus/storage';
import { loadTokenSecret } from '@recordbus/tokens';
import { createWebhooks } from '@recordbus/webhooks';
import type { localVariables } from './options.ts';
import type { RunningStack } from './running-stack.ts';

interface OneProcessOptions {
  readonly config: Config<typeof localVariables> & { readonly host: string; readonly logLevel: string };
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly gatewayPort: number;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
}

/** Connections that the services share: as many as busy writes and the deliveries use together. */
const poolSize = 20;

/** Runs the five services in this process on shared connections; the gateway calls them directly. */
export async function startInOneProcess(options: OneProcessOptions): Promise<RunningStack> {
  const { config, log, lifecycle, metrics } = options;
  const secret = loadTokenSecret(config);
  const database = await openDatabase({ url: options.databaseUrl, name: 'local', log, metrics, poolSize });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: options.natsUrl, name: 'local', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const envelope = createEnvelope(config.encryptionKey);

  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
  const storage = await openStorage(config);
  const extensions = await findExtensionsConfig(config);
  const of = (service: string) => ({ log: createLogger(service, config.logLevel), database, bus });
  const records = createRecords({ ...of('records'), secret, envelope, config, storage, stream, extensions });
  const services = [
    createAuth({ ...of('auth'), envelope, secret, config, accountHooks: records.accountHooks }),
    records,
    createAdmin({ ...of('admin'), secret, envelope, config }),
    createWebhooks({ ...of('webhooks'), envelope, stream }),
  ];
  const setupToken = await prepareFirstAdmin({ database, config, log });
  for (const service of services) {
    lifecycle.onStop(service.name, () => service.stop());
    await service.start();
  }

  const gatewayLog = createLogger('gateway', config.logLevel);
  const settings = createSettings({ database, bus, log: gatewayLog, envelope });
  const gateway = createGateway({
    log: gatewayLog,
    secret,
    settings,
    accounts: createAccounts({ database, bus, log: gatewayLog }),
    requestLog: createRequestLog({ database, settings, log: gatewayLog }),
    processMetrics: metrics,
    windows: createSharedWindows({ database, log: gatewayLog }),
    trustedProxies: config.trustedProxies,
    upstreams: services.map((service) =>
      localUpstream(service, { log: gatewayLog, answerTimeoutMs: config.answerTimeoutMs }),
    ),
  });
  lifecycle.onStop('gateway', () => gateway.stop());
  await gateway.start();
  const server = await listen(gateway.app, { port: options.gatewayPort, host: config.host });
  lifecycle.onStop('requests', () => server.close());
  return { url: server.url, setupToken, services: () => ({}) };
}
