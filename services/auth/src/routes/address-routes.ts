import { answerIn } from '@recordbus/captcha';
import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { confirmEmailChange, requestEmailChange } from '../identity/email-change.ts';
import { undoEmailChange } from '../identity/undo-email-change.ts';
import { requestVerification, requestVerificationOf, verifyEmail } from '../verification/verification.ts';
import { admitTo, authParams, authPath, callerIn, captchaAnswer, holderIn, oldPassword, text } from './auth-paths.ts';

const sent = z.object({ sent: z.literal(true) });
const provedAddress = z.object({
  verified: z.literal(true),
  dropped: z
    .array(z.enum(['totp', 'links', 'passkeys']))
    .optional()
    .describe("what the address's first proof removed from the account; absent when nothing"),
});

/** Proving an address and changing it. */
export const addressRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/request-verify'),
    access: 'user',
    scope: 'none',
    summary: 'Mail the caller a link that proves the address; a proved address gets no mail',
    params: authParams,
    answers: { 200: sent, 403: 'the token belongs to a user in another collection', 422: 'mail is not configured' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await requestVerification(parts, collection, callerIn(collection, input.context).id);
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/request-verify-of'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Mail a user a link that proves the address; the answer is the same for an unknown or proved address',
    params: authParams,
    body: z.object({ email: text, captcha: captchaAnswer }),
    answers: { 200: sent, 404: 'no such auth collection', 422: 'a captcha is missing or wrong' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await parts.captchas.demand(collection, 'reset', answerIn(input), input.context);
        requestVerificationOf(parts, collection, input.body.email);
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/verify-email'),
    access: 'public',
    scope: 'none',
    summary: "Prove an address with the mail's token",
    params: authParams,
    body: z.object({ token: text }),
    answers: { 200: provedAddress, 401: 'the token is wrong, used or expired' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const dropped = await verifyEmail(parts, collection, input.body.token, originOf(input));
        return ok(dropped.length > 0 ? { verified: true, dropped } : { verified: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/request-email-change'),
    access: 'user',
    scope: 'none',
    summary: 'Mail a link to the new address that the caller wants',
    params: authParams,
    body: z.object({
      email: text,
      old_password: oldPassword,
      prove_later: z
        .boolean()
        .optional()
        .describe('whether the password comes with the confirmation instead; false by default'),
    }),
    answers: {
      200: sent,
      403: 'an anonymous user, one in another collection, or no proof that the account is theirs',
      422: 'no address, or mail is off',
      429: 'too many wrong passwords',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const holder = holderIn(collection, input.context);
        const { email, old_password, prove_later = false } = input.body;
        const wanted = { email, oldPassword: old_password, provesLater: prove_later };
        await requestEmailChange(parts, collection, holder, wanted, originOf(input));
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/confirm-email-change'),
    access: 'public',
    scope: 'none',
    summary: 'Change an address with the token mailed to the new address',
    params: authParams,
    body: z.object({
      token: text,
      password: text.optional().describe("the account's password, if the request has left the proof for later"),
    }),
    answers: {
      200: z.object({ changed: z.literal(true) }),
      401: 'the token is wrong, used or expired',
      403: 'the password is missing or wrong; the token stays valid',
      422: 'another user has the address now',
      429: 'too many wrong passwords',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { token, password } = input.body;
        await confirmEmailChange(parts, collection, { token, password }, originOf(input));
        return ok({ changed: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/undo-email-change'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Undo an address change with the token mailed to the old address; all sessions end',
    params: authParams,
    body: z.object({ token: text }),
    answers: {
      200: z.object({ undone: z.literal(true) }),
      401: 'the token is wrong, used or expired',
      404: 'no such auth collection',
      409: 'another user has proved the address meanwhile',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await undoEmailChange(parts, collection, input.body.token, originOf(input));
        return ok({ undone: true });
      }),
  }),
];
