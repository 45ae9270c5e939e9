import { connectBus, eventStream } from '@recordbus/bus';
import { createValueCipher, findEncryptionKey } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { runService } from '@recordbus/http/run-service';
import { startPart } from '@recordbus/process/lifecycle';
import { createContextSigner } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { loadTokenSecret } from '@recordbus/tokens';
import { createWebhooks } from './app.ts';
import { webhooksVariables } from './config.ts';

await runService('webhooks', webhooksVariables, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({ url: config.databaseUrl, name: 'webhooks', log, metrics, as: 'background' });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'webhooks', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const cipher = createValueCipher(findEncryptionKey(config).text);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const collections = await startPart(lifecycle, 'collections', createCollectionCache({ database, bus, log }));
  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
  return {
    service: createWebhooks({ log, database, bus, settings, collections, stream }),
    contextSigner: createContextSigner(secret),
  };
});
