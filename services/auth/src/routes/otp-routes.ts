import { answerIn } from '@recordbus/captcha';
import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { requestCode, requireCodes } from '../otp/request-code.ts';
import { type CodeProof, signInWithCode } from '../otp/sign-in-with-code.ts';
import { admitToWay, authParams, authPath, captchaAnswer, text } from './auth-paths.ts';
import { signInAnswer } from './session-schemas.ts';

/** A token alone, or an address and a code. */
const codeProof = z
  .object({ token: text.optional(), email: text.optional(), code: text.optional() })
  .transform(({ token, email, code }, context): CodeProof => {
    if (token !== undefined) return { token };
    if (email !== undefined && code !== undefined) return { email, code };
    const missing = email === undefined && code === undefined ? 'token' : email === undefined ? 'email' : 'code';
    context.addIssue({ code: 'custom', path: [missing], message: 'give token, or email and code' });
    return z.NEVER;
  });

/** Sign-in with a mailed code or link (auth §5). */
export const otpRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/otp/request'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Mail a user a code and a link for signing in; the answer is the same for an unknown address',
    params: authParams,
    body: z.object({ email: text, captcha: captchaAnswer }),
    answers: {
      200: z.object({ sent: z.literal(true) }),
      404: 'no such auth collection',
      422: 'one-time codes are switched off, mail is not configured, or a captcha is missing or wrong',
    },
    admit: admitToWay(parts, 'otp'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        requireCodes(parts);
        await parts.captchas.demand(collection, 'otp', answerIn(input), input.context);
        requestCode(parts, collection, input.body.email);
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/otp/auth'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: "Sign in with the code or the link's token; each uses up both",
    params: authParams,
    body: codeProof,
    answers: {
      200: signInAnswer,
      401: 'the code or token is wrong, used or expired',
      404: 'no such auth collection',
      422: 'one-time codes are switched off, or something is missing',
      429: 'too many wrong codes',
    },
    admit: admitToWay(parts, 'otp'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        ok(await signInWithCode(parts, collection, input.body, originOf(input))),
      ),
  }),
];
