import { join } from 'node:path';
import { connectBus, eventStream } from '@recordbus/bus';
import { createValueCipher, findEncryptionKey } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import { runService } from '@recordbus/http/run-service';
import { startPart } from '@recordbus/process/lifecycle';
import { createContextSigner } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { openStorage } from '@recordbus/storage';
import { loadTokenSecret } from '@recordbus/tokens';
import { createRecords, openBackupPlace } from './app.ts';
import { recordsVariables } from './config.ts';

await runService('records', recordsVariables, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({
    url: config.databaseUrl,
    replicaUrls: config.databaseReplicaUrls,
    readsReplicas: true,
    name: 'records',
    log,
    metrics,
  });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'records', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
  const { text: encryptionKey } = findEncryptionKey(config);
  const cipher = createValueCipher(encryptionKey);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const collections = await startPart(lifecycle, 'collections', createCollectionCache({ database, bus, log }));
  const storage = await openStorage(config);
  const backups = await openBackupPlace(config, config.databaseUrl);
  const extensions = await findExtensionsConfig(config);
  const copies = { settings, collections };
  const { gatewayUrl, restoreDirectory: directory } = config;
  const service = createRecords({
    log,
    database,
    bus,
    ...copies,
    secret,
    cipher,
    config,
    storage,
    backups,
    restores: directory === undefined ? undefined : { directory, encryptionKey },
    moves: { folder: join(config.dataDirectory, 'moves'), gatewayUrl: () => gatewayUrl },
    stream,
    extensions,
  });
  return { service, contextSigner: createContextSigner(secret) };
});
