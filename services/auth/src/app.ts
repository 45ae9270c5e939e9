import { type Database, mapDatabaseError } from '@recordbus/database';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import { createDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { Service } from '@recordbus/shared/service';
import { createTokenSigner } from '@recordbus/tokens';
import { adminRoutes } from './routes/admin-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';

export { authVariables } from './config.ts';
export { prepareFirstAdmin } from './first-admin/prepare-first-admin.ts';

interface AuthDeps {
  readonly log: Logger;
  readonly database: Database;
  /** Raw bytes of the secret that signs tokens. */
  readonly secret: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/** The auth service: who may come in, and the tokens they carry from then on. */
export function createAuth({ log, database, secret, clock = Date.now }: AuthDeps): Service {
  const signer = createTokenSigner(secret, clock);
  const routes = [...adminRoutes({ database, signer, clock }), ...sessionRoutes({ database, signer })];
  return {
    name: 'auth',
    routes,
    handle: createDispatcher(routes, {
      log,
      mapError: mapDatabaseError,
      idempotency: createIdempotencyKeys({ database, log, secret }),
    }),
    checks: { database: () => database.ping() },
    start: async () => {},
    stop: async () => {},
  };
}
