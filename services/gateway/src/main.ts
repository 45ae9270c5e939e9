import { connectBus } from '@recordbus/bus';
import { createValueCipher, findEncryptionKey } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { endRequests, listen } from '@recordbus/http';
import { createMovedTokens } from '@recordbus/moved-sessions';
import { startPart } from '@recordbus/process/lifecycle';
import { announceReady, runProcess } from '@recordbus/process/run-process';
import { createContextSigner } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createAccounts } from '@recordbus/sessions';
import { createSettings } from '@recordbus/settings';
import { loadTokenSecret } from '@recordbus/tokens';
import {
  createGateway,
  createRecentWrites,
  createRequestLog,
  createServiceKeys,
  createSessionUse,
  createSharedWindows,
  ownCatalogSource,
  useTicketsOf,
} from './app.ts';
import { gatewayVariables } from './config.ts';
import { httpUpstream } from './upstream/http-upstream.ts';

await runProcess('gateway', gatewayVariables, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({ url: config.databaseUrl, name: 'gateway', log, metrics, as: 'signIn' });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'gateway', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const cipher = createValueCipher(findEncryptionKey(config).text);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const accounts = await startPart(lifecycle, 'accounts', createAccounts({ database, bus, log }));
  const contextSigner = createContextSigner(secret);
  const upstreams = (['auth', 'records', 'admin', 'webhooks', 'realtime'] as const).map((name) =>
    httpUpstream({ name, url: config[name], contextSigner, bus, log, answerTimeoutMs: config.answerTimeoutMs }),
  );
  const gateway = createGateway({
    log,
    secret,
    settings,
    accounts,
    movedTokens: createMovedTokens({ database, cipher }),
    keys: createServiceKeys({ ring: accounts.keys, database, log }),
    sessionUse: createSessionUse({ database, log }),
    useTicket: useTicketsOf(database),
    requestLog: createRequestLog({ database: database.of('background'), settings, log }),
    bus,
    collections: ownCatalogSource(createCollectionCache({ database, bus, log })),
    database: database.of('background'),
    processMetrics: metrics,
    windows: createSharedWindows({ database, log }),
    recentWrites: config.databaseReplicaUrls && createRecentWrites(bus),
    trustedProxies: config.trustedProxies,
    upstreams,
  });
  await startPart(lifecycle, 'gateway', gateway);
  const server = await listen(gateway.app, { ...config, acceptsWebSockets: true, log, metrics });
  lifecycle.onStop('requests', () => endRequests(server, [gateway]));
  log.info({ url: server.url }, 'listening');
  announceReady({ name: 'gateway', url: server.url });
});
