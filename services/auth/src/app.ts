import { type AccountHooks, noAccountHooks } from '@recordbus/accounts';
import type { Bus } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import { createMailSender } from '@recordbus/mail';
import { createGuessLimit, createPasswordRules } from '@recordbus/passwords';
import { createCollectionCache, createFieldSealing } from '@recordbus/schema';
import { createFilteredClient, createSettings } from '@recordbus/settings';
import { createDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { createMetrics } from '@recordbus/shared/metrics';
import type { Service } from '@recordbus/shared/service';
import { createTokenSigner } from '@recordbus/tokens';
import type { AuthParts } from './auth-parts.ts';
import { createBackgroundWork } from './background-work.ts';
import { createAuthCollections } from './collections/auth-collections.ts';
import { withSignInHooks } from './hooks/with-sign-in-hooks.ts';
import { createHousekeeping } from './housekeeping.ts';
import { createLockout } from './lockout/lockout.ts';
import { measureMail } from './mail-metrics.ts';
import { createOauthProviders } from './oauth/oauth-providers.ts';
import { createCodeHasher } from './one-time/code-hasher.ts';
import { addressRoutes } from './routes/address-routes.ts';
import { adminRoutes } from './routes/admin-routes.ts';
import { anonymousRoutes } from './routes/anonymous-routes.ts';
import { impersonationRoutes } from './routes/impersonation-routes.ts';
import { mailRoutes } from './routes/mail-routes.ts';
import { oauthRoutes } from './routes/oauth-routes.ts';
import { otpRoutes } from './routes/otp-routes.ts';
import { passwordRoutes } from './routes/password-routes.ts';
import { secondFactorRoutes } from './routes/second-factor-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { totpRoutes } from './routes/totp-routes.ts';

export { prepareFirstAdmin } from './first-admin/prepare-first-admin.ts';
export { liftLockout } from './lockout/lockout.ts';

interface AuthDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** Opens secret settings. */
  readonly envelope: Envelope;
  /** Raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  readonly config: {
    /** Where breached passwords are asked for. */
    readonly breachServiceUrl: string;
    /** The CIDRs of the proxies before the gateway, where the settings name none. */
    readonly trustedProxies: readonly string[];
  };
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** The hooks around sign-ins and accounts; none when not given. */
  readonly accountHooks?: AccountHooks | undefined;
  /** By which OAuth2 providers are called; one that obeys the settings when not given. */
  readonly client?: EgressClient;
}

/** The auth service: who may come in, and the tokens they carry from then on. */
export function createAuth(deps: AuthDeps): Service {
  const { log, database, bus, envelope, secret, config, clock = Date.now } = deps;
  const nowSec = () => Math.floor(clock() / 1000);
  const settings = createSettings({ database, bus, log, envelope });
  const client = deps.client ?? createFilteredClient(settings);
  const cache = createCollectionCache({ database, bus, log });
  const background = createBackgroundWork(log);
  const housekeeping = createHousekeeping({ database, log, nowSec });
  const metrics = createMetrics('auth');
  const onOutcome = measureMail(metrics, database.query);
  const mailSender = createMailSender({ query: database.query, bus, settings, log, onOutcome });
  const parts: AuthParts = {
    log,
    database,
    bus,
    settings,
    envelope,
    sealing: createFieldSealing({ envelope, log }),
    collections: createAuthCollections(cache),
    accountHooks: deps.accountHooks ?? noAccountHooks,
    signer: createTokenSigner(secret, clock),
    passwords: createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl }),
    lockout: createLockout({ database, settings, trustedProxies: config.trustedProxies, nowSec }),
    guessLimit: createGuessLimit({ database, nowSec }),
    hashCode: createCodeHasher(secret),
    oauth: createOauthProviders({ settings, client, log, nowSec }),
    nowSec,
    inBackground: background.run,
  };
  const routes = withSignInHooks(
    [
      ...adminRoutes(parts),
      ...impersonationRoutes(parts),
      ...sessionRoutes(parts),
      ...passwordRoutes(parts),
      ...addressRoutes(parts),
      ...anonymousRoutes(parts),
      ...mailRoutes(parts),
      ...otpRoutes(parts),
      ...oauthRoutes(parts),
      ...totpRoutes(parts),
      ...secondFactorRoutes(parts),
    ],
    parts,
  );
  return {
    name: 'auth',
    routes,
    handle: createDispatcher(routes, {
      log,
      mapError: mapDatabaseError,
      idempotency: createIdempotencyKeys({ database, log, secret }),
    }),
    metrics,
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    // Signing in goes on without the bus; gateways look for themselves.
    dispensable: new Set(['bus']),
    async start() {
      await settings.start();
      await cache.start();
      housekeeping.start();
      mailSender.start();
    },
    async stop() {
      await cache.stop();
      await background.stop();
      await Promise.all([settings.stop(), housekeeping.stop(), mailSender.stop(), client.close()]);
    },
  };
}
