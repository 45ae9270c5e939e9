import { created, ok, type Route, route } from '@recordbus/http';
import { accountAddress } from '@recordbus/schema';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { setUpFirstAdmin } from '../first-admin/set-up-first-admin.ts';
import { openAdminSession } from '../sessions/admin-sessions.ts';
import { finishAdminSignIn, logInAdmin } from '../sign-in/log-in-admin.ts';
import { secondFactorProof } from './second-factor-routes.ts';
import { adminSession, secondFactorRequired } from './session-schemas.ts';

const credentials = z.object({ email: z.string('must be a string').trim(), password: z.string('must be a string') });

const firstAdmin = z.object({
  token: z.string('must be a string').trim(),
  email: accountAddress,
  password: z.string('must be a string'),
});

/** Setting up the first admin, and signing admins in (admins §1, §2). */
export const adminRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/setup',
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Create the first admin with the set-up token that the start printed',
    body: firstAdmin,
    answers: { 201: adminSession, 401: 'the token is wrong', 409: 'an admin exists already' },
    async handler(input) {
      const origin = originOf(input);
      const admin = await setUpFirstAdmin(parts, input.body, origin);
      return created(await openAdminSession(parts.database.query, parts, admin, origin));
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/admin/login',
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Sign in as an admin',
    body: credentials,
    answers: {
      200: z.union([adminSession, secondFactorRequired]),
      401: 'invalid credentials',
      429: 'too many failed attempts',
    },
    handler: async (input) => ok(await logInAdmin(parts, input.body, originOf(input))),
  }),
  route({
    method: 'POST',
    path: '/api/v1/admin/login/mfa',
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: "Finish an admin's sign-in with an authenticator code or a recovery code",
    body: secondFactorProof,
    answers: {
      200: adminSession,
      401: 'the mfa_token or the code is wrong, used or expired',
      429: 'too many wrong codes',
    },
    handler: async (input) => ok(await finishAdminSignIn(parts, input.body, originOf(input))),
  }),
];
