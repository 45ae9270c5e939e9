import { created, ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { demandAnonymous, promote } from '../anonymous/promote.ts';
import { signInAnonymously } from '../anonymous/sign-in-anonymously.ts';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { admitTo, authParams, authPath, holderIn, text } from './auth-paths.ts';
import { userSession } from './session-schemas.ts';

/** Users who say nothing about themselves, until they do (interface §3.3 and §5, Anonymous sessions). */
export const anonymousRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: authPath('/anonymous'),
    access: 'public',
    action: 'auth',
    summary: 'Sign in without an address; the body may have fields of the collection',
    params: authParams,
    body: z.record(z.string(), z.unknown()),
    answers: { 201: userSession, 404: 'no such auth collection', 422: 'switched off, or a field is refused' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        created(await signInAnonymously(parts, collection, input.body, originOf(input))),
      ),
  }),
  route({
    method: 'POST',
    path: authPath('/promote'),
    // The token of a user who has been promoted is no good any more, and is refused in other words than none.
    access: 'public',
    action: 'auth',
    summary: 'Give the calling anonymous user an address and a password; id and data stay',
    params: authParams,
    body: z.object({ email: text, password: text }),
    answers: {
      200: userSession,
      401: 'no token',
      403: 'the caller is no anonymous user of this collection',
      404: 'no such auth collection',
      409: 'the address is taken',
      422: 'the address or the password is refused',
    },
    async admit({ params, context }) {
      await admitTo(parts.collections)({ params });
      demandAnonymous(context.principal);
      holderIn({ name: params.collection }, context);
    },
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { principal } = input.context;
        demandAnonymous(principal);
        return ok(await promote(parts, collection, principal.id, input.body, originOf(input)));
      }),
  }),
];
