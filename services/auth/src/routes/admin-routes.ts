import type { Database } from '@recordbus/database';
import { emailAddress } from '@recordbus/schema';
import { created, ok, type Route, route } from '@recordbus/shared/http';
import type { TokenSigner } from '@recordbus/tokens';
import { z } from 'zod';
import { logInAdmin } from '../admin-sign-in/log-in-admin.ts';
import { setUpFirstAdmin } from '../first-admin/set-up-first-admin.ts';
import { openAdminSession, windowSec } from '../sessions/admin-sessions.ts';
import { adminSession } from './session-schemas.ts';

interface AdminRoutesDeps {
  readonly database: Database;
  readonly signer: TokenSigner;
  readonly clock: () => number;
}

const credentials = z.object({ email: z.string('must be a string').trim(), password: z.string('must be a string') });

const firstAdmin = z.object({
  token: z.string('must be a string').trim(),
  email: emailAddress,
  password: z.string('must be a string'),
});

/** How an admin gets in (contract §4, Admins). */
export const adminRoutes = ({ database, signer, clock }: AdminRoutesDeps): Route[] => [
  route({
    method: 'POST',
    path: '/api/v1/admin/setup',
    access: 'public',
    action: 'auth',
    summary: 'Make the first admin with the token that the first start printed',
    body: firstAdmin,
    answers: { 201: adminSession, 401: 'the token is wrong', 409: 'there is an admin already' },
    async handler({ body }) {
      const admin = await setUpFirstAdmin(database, body, Math.floor(clock() / 1000));
      return created(await openAdminSession(signer, admin, windowSec.admin));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/admin/login',
    access: 'public',
    action: 'auth',
    summary: 'Sign in as an admin',
    body: credentials,
    answers: { 200: adminSession, 401: 'invalid credentials' },
    async handler({ body }) {
      return ok(await openAdminSession(signer, await logInAdmin(database, body), windowSec.admin));
    },
  }),
];
