import { answerIn, takeAnswer } from '@recordbus/captcha';
import { created, ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { promote, requireAnonymous } from '../sign-up/promote.ts';
import { signInAnonymously } from '../sign-up/sign-in-anonymously.ts';
import {
  admitToSignUp,
  admitToWay,
  authParams,
  authPath,
  captchaAnswer,
  holderIn,
  signUpRefused,
  text,
} from './auth-paths.ts';
import { sessionOrEnrollment, userSession } from './session-schemas.ts';

/** Anonymous users and their promotion (auth §7). */
export const anonymousRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: authPath('/anonymous'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: "Sign in without an address; the body may have the collection's fields",
    params: authParams,
    body: z.record(z.string(), z.unknown()),
    answers: {
      201: userSession,
      403: signUpRefused,
      404: 'no such auth collection',
      422: 'switched off, or a field is refused',
    },
    admit: admitToSignUp(parts, 'anonymous'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { answer, body } = takeAnswer(collection, input);
        await parts.captchas.demand(collection, 'register', answer, input.context);
        return created(await signInAnonymously(parts, collection, body, originOf(input)));
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/promote'),
    // Public, because a promoted user's old token is 403 and not 401 (auth §7.3).
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Give the calling anonymous user an address and a password; the id and the record stay',
    params: authParams,
    body: z.object({ email: text, password: text, captcha: captchaAnswer }),
    answers: {
      200: sessionOrEnrollment,
      401: 'no token',
      403: 'the caller is not an anonymous user in this collection',
      404: 'no such auth collection',
      409: 'the address is taken',
      422: 'the collection takes no passwords, or the address or the password is refused',
    },
    async admit({ params, context }) {
      await admitToWay(parts, 'password')({ params });
      requireAnonymous(context.principal);
      holderIn({ name: params.collection }, context);
    },
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { principal } = input.context;
        requireAnonymous(principal);
        await parts.captchas.demand(collection, 'register', answerIn(input), input.context);
        return ok(await promote(parts, collection, principal.id, input.body, originOf(input)));
      }),
  }),
];
