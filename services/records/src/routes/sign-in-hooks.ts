import { ok, type Route, route } from '@recordbus/shared/http';
import { type SignInHooks, signInHooksPath } from '@recordbus/shared/sign-in-hooks';
import { z } from 'zod';

const attempt = z.object({
  flow: z.enum(['register', 'password', 'otp', 'oauth2', 'anonymous', 'promote', 'second_factor']),
  collection: z.string(),
  email: z.string().optional(),
  userAgent: z.string().optional(),
});

/** For the auth service, which asks here before a sign-in; no route of the gateway. */
export const signInHooksRoute = (hooks: SignInHooks): Route =>
  route({
    method: 'POST',
    path: signInHooksPath,
    access: 'public',
    summary: 'Ask the sign-in hooks of extensions',
    body: attempt,
    answers: { 200: z.object({ hasHooks: z.boolean(), wantsToKnow: z.boolean() }) },
    async handler({ body, context }) {
      const { flow, collection, email, userAgent } = body;
      return ok(await hooks.before({ flow, collection, email, userAgent }, context));
    },
  });
