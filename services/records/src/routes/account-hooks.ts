import { type AccountHooks, accountHookPaths, isHooked, newUser, signInAttempt, userChange } from '@recordbus/accounts';
import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';

const params = z.object({ collection: z.string() });
const written = z.object({ isWritten: z.boolean() });

/** A body that fits is passed on with a little more. */
const bodyLimitBytes = 2 * 1024 * 1024;

/** For the auth service, which asks here before what has hooks; no routes of the gateway. */
export const accountHookRoutes = (hooks: AccountHooks): Route[] => [
  route({
    method: 'POST',
    path: accountHookPaths.signIn,
    access: 'public',
    summary: 'Ask the sign-in hooks of extensions',
    body: signInAttempt,
    answers: { 200: z.object({ hasHooks: z.boolean(), wantsToKnow: z.boolean() }) },
    async handler({ body, context }) {
      await hooks.beforeSignIn(body, context);
      // Auth services of the version before, which run beside newer ones during an update, learn here what has hooks.
      return ok({ hasHooks: true, wantsToKnow: isHooked(hooks, 'signedIn', { name: body.collection }) });
    },
  }),
  route({
    method: 'POST',
    path: accountHookPaths.users,
    access: 'public',
    summary: 'Make a user, with the hooks that stand before',
    params,
    body: newUser,
    bodyLimitBytes,
    answers: { 200: written },
    handler: async ({ params, body, context }) =>
      ok({ isWritten: await hooks.createUser(params.collection, body, context) }),
  }),
  route({
    method: 'PATCH',
    path: accountHookPaths.users,
    access: 'public',
    summary: 'Change a user, with the hooks that stand before',
    params,
    body: userChange,
    bodyLimitBytes,
    answers: { 200: written },
    handler: async ({ params, body, context }) =>
      ok({ isWritten: await hooks.changeUser(params.collection, body, context) }),
  }),
];
