import { answerIn, takeAnswer } from '@recordbus/captcha';
import { created, ok, type Route, route, toJsonSchema } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { changePassword } from '../passwords/change-password.ts';
import { confirmPasswordReset, requestPasswordReset } from '../passwords/reset-password.ts';
import { type Credentials, logIn } from '../sign-in/log-in.ts';
import { register } from '../sign-up/register.ts';
import {
  admitTo,
  admitToSignUp,
  admitToWay,
  authParams,
  authPath,
  captchaAnswer,
  holderIn,
  signUpRefused,
  text,
} from './auth-paths.ts';
import { sessionOrEnrollment, signInAnswer } from './session-schemas.ts';

/** The 422 for a second factor that cannot be mailed (auth §6.11). */
const codesNeedMail = 'a code must be mailed while mail is not configured';

const passwordsOff = 'the collection takes no passwords';

/** Every registration's members. The collection's fields are checked with its definition. */
const registration = z
  .looseObject({
    email: z.email(),
    password: text.describe('what the user signs in with'),
    captcha: captchaAnswer,
  })
  .describe("the address, the password, and the collection's fields");

const loginBody = z.object({
  email: text.optional().describe("the account's address"),
  identity: text.optional().describe('instead of it: the address, or a value of a field that the setting names'),
  identity_field: text.optional().describe('the only field in which the identity is looked for'),
  password: text,
  captcha: captchaAnswer,
});

/** What a login sends: credentials, and the answer to a captcha. */
type Login = Credentials & { readonly captcha: string | undefined };

const credentials = loginBody.partial().transform((body, context): Login => {
  const { email, identity, identity_field: field, password, captcha } = body;
  const problems = [
    ...(email === undefined && identity === undefined ? [['email', 'is required'] as const] : []),
    ...(email !== undefined && identity !== undefined ? [['identity', 'must not come with email'] as const] : []),
    ...(field !== undefined && identity === undefined ? [['identity_field', 'must come with identity'] as const] : []),
    ...(password === undefined ? [['password', 'is required'] as const] : []),
  ];
  for (const [name, message] of problems) context.addIssue({ code: 'custom', path: [name], message });
  if (problems.length > 0 || password === undefined) return z.NEVER;
  return { captcha, ...(email === undefined ? { identity: identity ?? '', field, password } : { email, password }) };
});

/** Registration, login, and password resets and changes (auth §3, §4). */
export const passwordRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    idempotent: true,
    path: authPath('/register'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Sign up with address and password',
    params: authParams,
    body: z.record(z.string(), z.unknown()),
    described: { body: toJsonSchema(registration, 'input') },
    answers: {
      201: sessionOrEnrollment,
      403: signUpRefused,
      404: 'no such auth collection',
      422: `${passwordsOff}, a field or the password is refused, or a captcha is missing or wrong`,
    },
    admit: admitToSignUp(parts, 'password'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { answer, body } = takeAnswer(collection, input);
        await parts.captchas.demand(collection, 'register', answer, input.context);
        return created(await register(parts, collection, body, originOf(input)));
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/login'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Sign in with a password, and the address or another identity',
    params: authParams,
    body: credentials,
    described: { body: toJsonSchema(loginBody, 'input') },
    answers: {
      200: signInAnswer,
      401: 'invalid credentials',
      403: 'the user is blocked, or the right password must be reset',
      404: 'no such auth collection',
      422: `${passwordsOff}, a captcha is missing or wrong, or ${codesNeedMail}`,
      429: 'too many failed attempts, or too many mailed codes',
    },
    admit: admitToWay(parts, 'password'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await parts.captchas.demand(collection, 'login', answerIn(input), input.context);
        return ok(await logIn(parts, collection, input.body, originOf(input)));
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/request-password-reset'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Mail a user a link for a new password; the answer is the same for an unknown address',
    params: authParams,
    body: z.object({ email: text, captcha: captchaAnswer }),
    answers: {
      200: z.object({ sent: z.literal(true) }),
      404: 'no such auth collection',
      422: `${passwordsOff}, or a captcha is missing or wrong`,
    },
    admit: admitToWay(parts, 'password'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await parts.captchas.demand(collection, 'reset', answerIn(input), input.context);
        requestPasswordReset(parts, collection, input.body.email);
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/confirm-password-reset'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: "Set a new password with the mail's token; all sessions end",
    params: authParams,
    body: z.object({ token: text, password: text }),
    answers: {
      200: z.object({ reset: z.literal(true) }),
      401: 'the token is wrong, used or expired',
      404: 'no such auth collection',
      422: `${passwordsOff}, or the password is refused; the token stays valid`,
    },
    admit: admitToWay(parts, 'password'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await confirmPasswordReset(parts, collection, input.body, originOf(input));
        return ok({ reset: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/change-password'),
    access: 'user',
    scope: 'none',
    summary: "Change the caller's password; all sessions end, and the answer opens a new one",
    params: authParams,
    body: z.object({ old_password: text, password: text }),
    answers: {
      200: sessionOrEnrollment,
      403: 'the token belongs to a user in another collection',
      404: 'no such auth collection',
      422: 'the old password is wrong, or the new one refused',
      429: 'too many failed attempts',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { id } = holderIn(collection, input.context);
        return ok(await changePassword(parts, collection, id, input.body, originOf(input)));
      }),
  }),
];
