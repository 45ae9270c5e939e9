import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { confirmEmailChange, requestEmailChange } from '../email-change/email-change.ts';
import { requestVerification, verifyEmail } from '../verification/verification.ts';
import { admitTo, authParams, authPath, callerIn, holderIn, text } from './auth-paths.ts';

const sent = z.object({ sent: z.literal(true) });

/** Proving an address and changing it. */
export const addressRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/request-verify'),
    access: 'user',
    summary: 'Mail the caller a link that proves the address; none when it is proved already',
    params: authParams,
    answers: { 200: sent, 403: 'the token is of a user of another collection', 422: 'mail is not configured' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await requestVerification(parts, collection, callerIn(collection, input.context).id);
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/verify-email'),
    access: 'public',
    summary: 'Prove an address with the token of the mail',
    params: authParams,
    body: z.object({ token: text }),
    answers: { 200: z.object({ verified: z.literal(true) }), 401: 'the token is wrong, used or expired' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await verifyEmail(parts, collection, input.body.token, originOf(input));
        return ok({ verified: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/request-email-change'),
    access: 'user',
    summary: 'Mail a link to the address that the caller wants to have',
    params: authParams,
    body: z.object({ email: text }),
    answers: { 200: sent, 403: 'an anonymous user, or one of another collection', 422: 'no address, or mail is off' },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { id } = holderIn(collection, input.context);
        await requestEmailChange(parts, collection, id, input.body.email);
        return ok({ sent: true });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/confirm-email-change'),
    access: 'public',
    summary: 'Change an address with the token that was mailed to the new one',
    params: authParams,
    body: z.object({ token: text }),
    answers: {
      200: z.object({ changed: z.literal(true) }),
      401: 'the token is wrong, used or expired',
      422: 'somebody else has the address by now',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        await confirmEmailChange(parts, collection, input.body.token, originOf(input));
        return ok({ changed: true });
      }),
  }),
];
