import { type AccountHooks, noAccountHooks } from '@recordbus/accounts';
import type { Bus } from '@recordbus/bus';
import { createCaptchas } from '@recordbus/captcha';
import type { ValueCipher } from '@recordbus/crypto';
import { type Database, limitRules, mapDatabaseError } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import { createDispatcher, type Route } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import { createMailSender, loadMailer } from '@recordbus/mail';
import { createGuessLimit, createPasswordRules } from '@recordbus/passwords';
import type { Logger } from '@recordbus/process/logging';
import { createMetrics } from '@recordbus/process/metrics';
import { findCaseCollation, type QuerySchema } from '@recordbus/query';
import { type CollectionCache, createFieldEncryption } from '@recordbus/schema';
import { createFilteredClient, type Settings } from '@recordbus/settings';
import { createTokenSigner } from '@recordbus/tokens';
import { createAuthCollections } from './auth-collections.ts';
import { createBackgroundWork } from './background-work.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createHolderNotices } from './identity/holder-notices.ts';
import { createLockout } from './lockout/lockout.ts';
import { measureMail } from './mail-metrics.ts';
import type { OauthParts } from './oauth/oauth-parts.ts';
import { createOauthProviders } from './oauth/oauth-providers.ts';
import { createCodeHasher } from './one-time/code-hasher.ts';
import { createLoginChallenges } from './one-time/login-challenges.ts';
import { loadWebAuthn } from './passkeys/web-authn.ts';
import { addressRoutes } from './routes/address-routes.ts';
import { adminPasskeyRoutes } from './routes/admin-passkey-routes.ts';
import { adminRoutes } from './routes/admin-routes.ts';
import { adminTotpRoutes } from './routes/admin-totp-routes.ts';
import { anonymousRoutes } from './routes/anonymous-routes.ts';
import { captchaRoutes } from './routes/captcha-routes.ts';
import { impersonationRoutes } from './routes/impersonation-routes.ts';
import { mailRoutes } from './routes/mail-routes.ts';
import { movedSessionRoutes } from './routes/moved-session-routes.ts';
import { oauthRoutes } from './routes/oauth-routes.ts';
import { otpRoutes } from './routes/otp-routes.ts';
import { passkeyRoutes } from './routes/passkey-routes.ts';
import { passwordRoutes } from './routes/password-routes.ts';
import { secondFactorRoutes } from './routes/second-factor-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { totpRoutes } from './routes/totp-routes.ts';
import { userAdminRoutes } from './routes/user-admin-routes.ts';
import { withSignInHooks } from './routes/with-sign-in-hooks.ts';
import { createRefusedSessionsTask } from './sessions/end-refused-sessions.ts';

export { prepareFirstAdmin } from './first-admin/prepare-first-admin.ts';
export { liftLockout } from './lockout/lockout.ts';
export { signInPaths } from './routes/with-sign-in-hooks.ts';
export { resetAdminFactor } from './totp/admin-authenticator.ts';

interface AuthDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** The process's copies, loaded before the service starts and stopped after it. */
  readonly settings: Settings;
  readonly collections: CollectionCache;
  /** Encrypts authenticator secrets and encrypted fields. */
  readonly cipher: ValueCipher;
  /** The raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  readonly config: {
    /** The breach check's range service. */
    readonly breachServiceUrl: string;
    /** The proxies' CIDRs in front of the gateway, used when the settings name none. */
    readonly trustedProxies: readonly string[];
  };
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Hooks for sign-ins and accounts; none by default. */
  readonly accountHooks?: AccountHooks | undefined;
  /** Calls OAuth2 providers; by default a client that obeys the egress settings. */
  readonly client?: EgressClient;
}

/** Creates the auth service, which signs users and admins in and issues their tokens. */
export function createAuth(given: AuthDeps): Service {
  const database = limitRules(given.database, () => given.settings.get('records.read_timeout_ms'));
  const deps = { ...given, database };
  const { log, bus, settings, collections, secret, clock = Date.now } = deps;
  const nowSec = () => Math.floor(clock() / 1000);
  const client = deps.client ?? createFilteredClient(settings);
  const background = createBackgroundWork(log);
  const unattended = database.of('background');
  const housekeeping = createHousekeeping({
    database: unattended,
    mailDays: () => settings.get('mail.retention_days'),
    log,
    nowSec,
  });
  const metrics = createMetrics('auth');
  const onOutcome = measureMail(metrics, unattended.query);
  const mailSender = createMailSender({
    query: unattended.query,
    bus,
    settings,
    cipher: deps.cipher,
    log,
    onOutcome,
  });
  let collation: string | undefined;
  const schema: QuerySchema = {
    findCollection: collections.find,
    get collation() {
      return collation;
    },
  };
  const parts = createParts(deps, { client, schema, nowSec, inBackground: background.run });
  const refusedSessions = createRefusedSessionsTask({
    database: given.database.of('background'),
    cache: collections,
    schema,
    bus,
    log,
  });
  const holderNotices = createHolderNotices({ ...parts, bus, cache: collections });
  const routes = createRoutes(parts);
  return {
    name: 'auth',
    routes,
    handle: createDispatcher(routes, {
      log,
      mapError: mapDatabaseError,
      idempotency: createIdempotencyKeys({ database, removeOn: database.of('background'), log, secret }),
      compresses: () => settings.get('http.compression'),
    }),
    metrics,
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    // Users can sign in without the bus, because gateways poll revocations.
    dispensable: new Set(['bus']),
    async start() {
      collation = await findCaseCollation(database.query);
      housekeeping.start();
      mailSender.start();
      holderNotices.start();
      refusedSessions.start();
    },
    async warm() {
      await client.warm();
      await loadMailer();
      await loadWebAuthn();
      // The first use of fetch, which asks for breached passwords, loads it.
      new Headers();
    },
    async stop() {
      await holderNotices.stop();
      await refusedSessions.stop();
      await background.stop();
      await Promise.all([housekeeping.stop(), mailSender.stop(), client.close()]);
    },
  };
}

type OwnParts = Pick<OauthParts, 'schema' | 'nowSec' | 'inBackground'> & { readonly client: EgressClient };

/** Creates the routes' dependencies. */
function createParts(deps: AuthDeps, { client, schema, nowSec, inBackground }: OwnParts): OauthParts {
  const { log, database, bus, settings, collections, cipher, secret, config, clock = Date.now } = deps;
  return {
    log,
    database,
    bus,
    settings,
    cipher,
    encryption: createFieldEncryption({ cipher, log }),
    collections: createAuthCollections(collections),
    schema,
    accountHooks: deps.accountHooks ?? noAccountHooks,
    signer: createTokenSigner(secret, clock),
    passwords: createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl }),
    captchas: createCaptchas({ settings, database, client, log, secret, nowSec }),
    lockout: createLockout({ database, settings, trustedProxies: config.trustedProxies, nowSec }),
    guessLimit: createGuessLimit({ database, nowSec }),
    hashCode: createCodeHasher(secret),
    loginChallenges: createLoginChallenges(secret, nowSec),
    oauth: createOauthProviders({ settings, client, log, nowSec }),
    nowSec,
    inBackground,
  };
}

/** The routes for all ways to sign in, each with the sign-in hooks. */
const createRoutes = (parts: OauthParts): readonly Route[] =>
  withSignInHooks(
    [
      ...adminRoutes(parts),
      ...adminTotpRoutes(parts),
      ...adminPasskeyRoutes(parts),
      ...impersonationRoutes(parts),
      ...userAdminRoutes(parts),
      ...movedSessionRoutes(parts),
      ...sessionRoutes(parts),
      ...passwordRoutes(parts),
      ...addressRoutes(parts),
      ...anonymousRoutes(parts),
      ...captchaRoutes(parts),
      ...mailRoutes(parts),
      ...otpRoutes(parts),
      ...oauthRoutes(parts),
      ...passkeyRoutes(parts),
      ...totpRoutes(parts),
      ...secondFactorRoutes(parts),
    ],
    parts,
  );
