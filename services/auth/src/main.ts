import { type AccountHooks, followHookedCollections } from '@recordbus/accounts';
import { connectBus } from '@recordbus/bus';
import { createValueCipher, findEncryptionKey } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { runService } from '@recordbus/http/run-service';
import { startPart } from '@recordbus/process/lifecycle';
import { createContextSigner } from '@recordbus/request/context';
import { createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { loadTokenSecret } from '@recordbus/tokens';
import { createAuth, prepareFirstAdmin } from './app.ts';
import { authVariables, loneAuthVariables } from './config.ts';
import { createAccountHooksClient } from './hooks/account-hooks-client.ts';

await runService('auth', { ...authVariables, ...loneAuthVariables }, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({
    url: config.databaseUrl,
    replicaUrls: config.databaseReplicaUrls,
    name: 'auth',
    log,
    metrics,
    as: 'signIn',
  });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'auth', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const setupToken = await prepareFirstAdmin({ database, config, log });
  if (setupToken)
    log.warn(
      { setup_token: setupToken },
      'there is no admin yet: POST this token with e-mail and password to /api/v1/admin/setup',
    );
  const cipher = createValueCipher(findEncryptionKey(config).text);
  const contextSigner = createContextSigner(secret);
  let accountHooks: AccountHooks | undefined;
  if (config.recordsUrl) {
    const copy = await startPart(lifecycle, 'account hooks', followHookedCollections({ database, bus, log }));
    accountHooks = createAccountHooksClient({ url: config.recordsUrl, contextSigner, copy });
  }
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher, metrics }));
  const collections = await startPart(lifecycle, 'collections', createCollectionCache({ database, bus, log }));
  const service = createAuth({ log, database, bus, settings, collections, cipher, secret, config, accountHooks });
  return { service, contextSigner, setupToken };
});
