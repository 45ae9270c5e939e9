import { createAdmin } from '@recordbus/admin';
import { createAuth, prepareFirstAdmin } from '@recordbus/auth';
import { connectBus, eventStream } from '@recordbus/bus';
import { createValueCipher } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import type { ExtensionsConfig } from '@recordbus/extension-host/config';
import {
  createAccounts,
  createGateway,
  createRequestLog,
  createSharedWindows,
  localUpstream,
} from '@recordbus/gateway';
import { createRecords } from '@recordbus/records';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import type { Config } from '@recordbus/shared/config';
import { endRequests, listen } from '@recordbus/shared/http';
import type { Lifecycle } from '@recordbus/shared/lifecycle';
import { createLogger, type Logger } from '@recordbus/shared/logging';
import type { Metrics } from '@recordbus/shared/metrics';
import { openStorage } from '@recordbus/storage';
import { createWebhooks } from '@recordbus/webhooks';
import type { localVariables } from './options.ts';
import type { RunningStack } from './running-stack.ts';

interface OneProcessOptions {
  readonly config: Config<typeof localVariables> & { readonly host: string; readonly logLevel: string };
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Undefined without extensions. */
  readonly extensions: ExtensionsConfig | undefined;
  /** Signs tokens. */
  readonly secret: Uint8Array;
  readonly gatewayPort: number;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
}

/** Runs the five services in this process on shared connections; the gateway calls them directly. */
export async function startInOneProcess(options: OneProcessOptions): Promise<RunningStack> {
  const { config, extensions, secret, log, lifecycle, metrics } = options;
  const database = await openDatabase({ url: options.databaseUrl, name: 'local', log, metrics });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: options.natsUrl, name: 'local', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const cipher = createValueCipher(config.encryptionKey);

  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
  const storage = await openStorage(config);
  const settings = createSettings({ database, bus, log, cipher });
  lifecycle.onStop('settings', () => settings.stop());
  await settings.start();
  const collections = createCollectionCache({ database, bus, log });
  lifecycle.onStop('collections', () => collections.stop());
  await collections.start();
  const of = (service: string, own: Parameters<typeof database.of>[0]) => ({
    log: createLogger(service, config.logLevel),
    database: database.of(own),
    bus,
    settings,
  });
  const records = createRecords({
    ...of('records', 'writes'),
    collections,
    secret,
    cipher,
    config,
    storage,
    stream,
    extensions,
  });
  const services = [
    createAuth({
      ...of('auth', 'signIn'),
      collections,
      cipher,
      secret,
      config,
      accountHooks: records.accountHooks,
    }),
    records,
    createAdmin({ ...of('admin', 'admin'), secret, cipher, config }),
    createWebhooks({ ...of('webhooks', 'background'), stream }),
  ];
  const setupToken = await prepareFirstAdmin({ database: database.of('signIn'), config, log });
  for (const service of services) {
    lifecycle.onStop(service.name, () => service.stop());
    await service.start();
  }

  const gatewayLog = createLogger('gateway', config.logLevel);
  const gateway = createGateway({
    log: gatewayLog,
    secret,
    settings,
    accounts: createAccounts({ database, bus, log: gatewayLog }),
    requestLog: createRequestLog({ database: database.of('background'), settings, log: gatewayLog }),
    processMetrics: metrics,
    windows: createSharedWindows({ database: database.of('signIn'), log: gatewayLog }),
    trustedProxies: config.trustedProxies,
    upstreams: services.map((service) =>
      localUpstream(service, { log: gatewayLog, answerTimeoutMs: config.answerTimeoutMs }),
    ),
  });
  lifecycle.onStop('gateway', () => gateway.stop());
  await gateway.start();
  const server = await listen(gateway.app, { port: options.gatewayPort, host: config.host, log: gatewayLog, metrics });
  lifecycle.onStop('requests', () => endRequests(server, services));
  return { url: server.url, setupToken, services: () => ({}) };
}
