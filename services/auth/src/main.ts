import { type AccountHooks, followHookedAccounts } from '@recordbus/accounts';
import { connectBus } from '@recordbus/bus';
import { createEnvelope } from '@recordbus/crypto';
import { openDatabase } from '@recordbus/database';
import { createContextSealer } from '@recordbus/shared/context';
import { runService } from '@recordbus/shared/run-service';
import { loadTokenSecret } from '@recordbus/tokens';
import { createAuth, prepareFirstAdmin } from './app.ts';
import { authVariables, loneAuthVariables } from './config.ts';
import { remoteAccountHooks } from './hooks/remote-account-hooks.ts';

await runService('auth', { ...authVariables, ...loneAuthVariables }, async ({ config, log, lifecycle, metrics }) => {
  const secret = loadTokenSecret(config);
  const database = await openDatabase({ url: config.databaseUrl, name: 'auth', log, metrics });
  lifecycle.onStop('database', () => database.close());
  const bus = connectBus({ urls: config.natsUrl, name: 'auth', log, metrics });
  lifecycle.onStop('bus', () => bus.close());
  const setupToken = await prepareFirstAdmin({ database, config, log });
  if (setupToken)
    log.warn(
      { setup_token: setupToken },
      'there is no admin yet: POST this token with e-mail and password to /api/v1/admin/setup',
    );
  const envelope = createEnvelope(config.encryptionKey);
  const sealer = createContextSealer(secret);
  let accountHooks: AccountHooks | undefined;
  if (config.recordsUrl) {
    const copy = followHookedAccounts({ database, bus, log });
    lifecycle.onStop('what has hooks', () => copy.stop());
    await copy.start();
    accountHooks = remoteAccountHooks({ url: config.recordsUrl, sealer, copy });
  }
  const service = createAuth({ log, database, bus, envelope, secret, config, accountHooks });
  return { service, sealer, setupToken };
});
