import { join } from 'node:path';
import { createAdmin } from '@recordbus/admin';
import { createAuth, prepareFirstAdmin } from '@recordbus/auth';
import { type Bus, connectBus, eventStream } from '@recordbus/bus';
import { createValueCipher, type ValueCipher } from '@recordbus/crypto';
import { type Database, openDatabase } from '@recordbus/database';
import type { ExtensionsConfig } from '@recordbus/extension-host/config';
import {
  createGateway,
  createRecentWrites,
  createRequestLog,
  createServiceKeys,
  createSessionUse,
  createSharedWindows,
  type Gateway,
  localUpstream,
  sharedCatalogSource,
  useTicketsOf,
} from '@recordbus/gateway';
import { endRequests, listen } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { warmUp } from '@recordbus/http/warm-up';
import { createMovedTokens } from '@recordbus/moved-sessions';
import type { Config } from '@recordbus/process/config';
import { type Lifecycle, startPart } from '@recordbus/process/lifecycle';
import { createLogger, type Logger } from '@recordbus/process/logging';
import type { Metrics } from '@recordbus/process/metrics';
import { createRealtime } from '@recordbus/realtime';
import { createRecords, openBackupPlace } from '@recordbus/records';
import { type CollectionCache, createCollectionCache } from '@recordbus/schema';
import { type Accounts, createAccounts } from '@recordbus/sessions';
import { createSettings, type Settings } from '@recordbus/settings';
import { openStorage, type Storage } from '@recordbus/storage';
import { createWebhooks } from '@recordbus/webhooks';
import type { localVariables } from './options.ts';
import { restoreDirectoryOf } from './restore-orders.ts';
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

/** Runs the six services in this process on shared connections; the gateway calls them directly. */
export async function startInOneProcess(options: OneProcessOptions): Promise<RunningStack> {
  const { config, log, lifecycle, metrics } = options;
  const database = await openDatabase({
    url: options.databaseUrl,
    replicaUrls: config.databaseReplicaUrls,
    readsReplicas: true,
    name: 'local',
    log,
    metrics,
  });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: options.natsUrl, name: 'local', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const cipher = createValueCipher(config.encryptionKey);
  const storage = await openStorage(config);
  const backups = await openBackupPlace(config, options.databaseUrl);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const collections = await startPart(lifecycle, 'collections', createCollectionCache({ database, bus, log }));
  const accounts = await startPart(lifecycle, 'accounts', createAccounts({ database, bus, log }));
  const parts = { database, bus, cipher, storage, backups, settings, collections, accounts };
  const address: { url?: string } = {};
  const services = createServices(options, parts, () => address.url);
  const setupToken = await prepareFirstAdmin({ database: database.of('signIn'), config, log });
  for (const service of services) await startPart(lifecycle, service.name, service);

  const gatewayLog = createLogger('gateway', config.logLevel);
  const gateway = createLocalGateway(options, parts, services, gatewayLog);
  await startPart(lifecycle, 'gateway', gateway);
  const server = await listen(gateway.app, {
    port: options.gatewayPort,
    host: config.host,
    acceptsWebSockets: true,
    log: gatewayLog,
    metrics,
  });
  address.url = server.url;
  lifecycle.onStop('requests', () => endRequests(server, [...services, gateway]));
  void warmUp(services, log);
  return { url: server.url, setupToken, services: () => ({}) };
}

/** What all services in the process share. */
interface SharedParts {
  readonly database: Database;
  readonly bus: Bus;
  readonly cipher: ValueCipher;
  readonly storage: Storage;
  readonly backups: Parameters<typeof createRecords>[0]['backups'];
  readonly settings: Settings;
  readonly collections: CollectionCache;
  readonly accounts: Accounts;
}

/** Creates the services behind the gateway, each with its own class of connections. */
function createServices(
  { config, extensions, secret }: OneProcessOptions,
  parts: SharedParts,
  gatewayUrl: () => string | undefined,
): readonly Service[] {
  const { database, bus, cipher, storage, backups, settings, collections } = parts;
  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
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
    backups,
    restores: { directory: restoreDirectoryOf(config), encryptionKey: config.encryptionKey },
    moves: { folder: join(config.dataDirectory, 'moves'), gatewayUrl },
    stream,
    extensions,
  });
  const { accountHooks, live } = records;
  return [
    createAuth({ ...of('auth', 'signIn'), collections, cipher, secret, config, accountHooks }),
    records,
    createAdmin({ ...of('admin', 'admin'), collections, secret, cipher, config }),
    createWebhooks({ ...of('webhooks', 'background'), collections, stream }),
    createRealtime({ ...of('realtime', 'signIn'), live, secret, cipher, stream }),
  ];
}

function createLocalGateway(
  { config, secret, metrics }: OneProcessOptions,
  { database, bus, cipher, settings, collections, accounts }: SharedParts,
  services: readonly Service[],
  log: Logger,
): Gateway {
  return createGateway({
    log,
    secret,
    settings,
    accounts,
    movedTokens: createMovedTokens({ database: database.of('signIn'), cipher }),
    keys: createServiceKeys({ ring: accounts.keys, database, log }),
    sessionUse: createSessionUse({ database, log }),
    useTicket: useTicketsOf(database.of('signIn')),
    requestLog: createRequestLog({ database: database.of('background'), settings, log }),
    bus,
    collections: sharedCatalogSource(collections),
    database: database.of('background'),
    processMetrics: metrics,
    windows: createSharedWindows({ database: database.of('signIn'), log }),
    recentWrites: config.databaseReplicaUrls && createRecentWrites(bus),
    trustedProxies: config.trustedProxies,
    upstreams: services.map((service) => localUpstream(service, { log, answerTimeoutMs: config.answerTimeoutMs })),
  });
}
