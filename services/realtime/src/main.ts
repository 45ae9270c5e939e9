import { connectBus, eventStream } from '@recordbus/bus';
import { createValueCipher, findEncryptionKey } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { runService } from '@recordbus/http/run-service';
import { createLiveReadsClient } from '@recordbus/live';
import { startPart } from '@recordbus/process/lifecycle';
import { createContextSigner } from '@recordbus/request/context';
import { createSettings } from '@recordbus/settings';
import { loadTokenSecret } from '@recordbus/tokens';
import { createRealtime } from './app.ts';
import { realtimeVariables } from './config.ts';

await runService('realtime', realtimeVariables, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({ url: config.databaseUrl, name: 'realtime', log, metrics, as: 'signIn' });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'realtime', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const cipher = createValueCipher(findEncryptionKey(config).text);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const contextSigner = createContextSigner(secret);
  const live = createLiveReadsClient({ url: config.recordsUrl, contextSigner });
  const stream = { ...eventStream, maxBytes: config.eventStreamMaxBytes };
  return { service: createRealtime({ log, database, bus, settings, live, secret, cipher, stream }), contextSigner };
});
