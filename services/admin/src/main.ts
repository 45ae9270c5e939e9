import { connectBus } from '@recordbus/bus';
import { createValueCipher, findEncryptionKey } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { runService } from '@recordbus/http/run-service';
import { startPart } from '@recordbus/process/lifecycle';
import { createContextSigner } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { loadTokenSecret } from '@recordbus/tokens';
import { createAdmin } from './app.ts';
import { adminVariables } from './config.ts';

await runService('admin', adminVariables, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({
    url: config.databaseUrl,
    replicaUrls: config.databaseReplicaUrls,
    name: 'admin',
    log,
    metrics,
    as: 'admin',
  });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'admin', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const cipher = createValueCipher(findEncryptionKey(config).text);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const collections = await startPart(lifecycle, 'collections', createCollectionCache({ database, bus, log }));
  return {
    service: createAdmin({ log, database, bus, secret, settings, collections, cipher, config }),
    contextSigner: createContextSigner(secret),
  };
});
