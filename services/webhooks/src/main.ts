import { connectBus, eventStream } from '@recordbus/bus';
import { createEnvelope } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { createContextSealer } from '@recordbus/shared/context';
import { runService } from '@recordbus/shared/run-service';
import { loadTokenSecret } from '@recordbus/tokens';
import { createWebhooks } from './app.ts';
import { webhooksVariables } from './config.ts';

await runService('webhooks', webhooksVariables, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({ url: config.databaseUrl, name: 'webhooks', log, metrics });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'webhooks', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const envelope = createEnvelope(config.encryptionKey);
  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
  return { service: createWebhooks({ log, database, bus, envelope, stream }), sealer: createContextSealer(secret) };
});
