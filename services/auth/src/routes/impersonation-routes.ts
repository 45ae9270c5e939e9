import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { impersonate } from '../sessions/impersonate.ts';
import { admitTo, authParams } from './auth-paths.ts';

/** Acting as a user (admins §5). */
export const impersonationRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: '/api/v1/admin/impersonate/:collection/:id',
    access: 'admin',
    scope: 'users:impersonate',
    summary: 'Get a token with which the calling admin acts as a user',
    params: authParams.extend({ id: z.string() }),
    answers: {
      200: z.object({ token: z.string(), impersonated_by: z.string().describe("the admin's or service key's id") }),
      404: 'no such auth collection or user',
      422: 'impersonation is switched off',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        ok(await impersonate(parts, collection, input.params.id, originOf(input))),
      ),
  }),
];
