import {
  type AccountHooks,
  accountHookPaths,
  isHooked,
  newUser,
  removable,
  signInAttempt,
  userChange,
  userPicture,
} from '@recordbus/accounts';
import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';

const params = z.object({ collection: z.string() });
const written = z.object({ isWritten: z.boolean() });

/** Above the limit on client bodies: the auth service adds members to a body before it sends it here. */
const bodyLimitBytes = 2 * 1024 * 1024;

/** The routes for the auth service, which runs hooks through them. The gateway does not serve them. */
export const internalAccountRoutes = (hooks: AccountHooks): Route[] => [
  route({
    method: 'POST',
    path: accountHookPaths.signIn,
    access: 'public',
    scope: 'any',
    summary: "Run extensions' sign-in hooks",
    body: signInAttempt,
    answers: { 200: z.object({ hasHooks: z.boolean(), wantsToKnow: z.boolean() }) },
    async handler({ body, context }) {
      await hooks.beforeSignIn(body, context);
      // The previous version's auth services, which run alongside this one during an update, ask here for the hooks.
      return ok({ hasHooks: true, wantsToKnow: isHooked(hooks, 'signedIn', { name: body.collection }) });
    },
  }),
  route({
    method: 'POST',
    path: accountHookPaths.users,
    access: 'public',
    scope: 'any',
    summary: 'Create a user, with its before hooks',
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
    scope: 'any',
    summary: 'Change a user, with its before hooks',
    params,
    body: userChange,
    bodyLimitBytes,
    answers: { 200: written.extend({ removed: z.array(removable) }) },
    async handler({ params, body, context }) {
      const removed = await hooks.changeUser(params.collection, body, context);
      return ok({ isWritten: removed !== undefined, removed: removed ?? [] });
    },
  }),
  route({
    method: 'POST',
    path: accountHookPaths.pictures,
    access: 'public',
    scope: 'any',
    summary: "Give a new user a provider's picture",
    params,
    body: userPicture,
    answers: { 200: z.object({}) },
    async handler({ params, body, context }) {
      await hooks.takePicture(params.collection, body, context);
      return ok({});
    },
  }),
];
