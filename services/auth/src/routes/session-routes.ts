import type { Database } from '@recordbus/database';
import { ok, type Route, route } from '@recordbus/shared/http';
import type { TokenSigner } from '@recordbus/tokens';
import { refreshSession } from '../sessions/refresh-session.ts';
import { adminSession } from './session-schemas.ts';

interface SessionRoutesDeps {
  readonly database: Database;
  readonly signer: TokenSigner;
}

/** What the holder of a session may do with it. */
export const sessionRoutes = ({ database, signer }: SessionRoutesDeps): Route[] => [
  route({
    method: 'POST',
    path: '/api/v1/auth/refresh',
    access: 'session',
    summary: 'Exchange a token that is still good for a new one',
    answers: { 200: adminSession },
    handler: async ({ context }) => ok(await refreshSession(database, signer, context.principal)),
  }),
];
