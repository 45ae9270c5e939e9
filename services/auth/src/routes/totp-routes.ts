import { ok, type Route, route, wholeBody } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { confirmTotp, disableTotp, recoveryStatus, regenerateRecoveryCodes, setUpTotp } from '../totp/authenticator.ts';
import { admitTo, authParams, authPath, callerIn, callerProof, holderIn, oldPassword, text } from './auth-paths.ts';

const codes = z.array(z.string()).describe('ten recovery codes, shown this once');
const setup = z.object({ secret: z.string(), otpauth_url: z.string() });
const otherCollection = 'the token belongs to a user in another collection';
const unprovedCaller = `${otherCollection}, or the caller does not prove that the account is theirs`;
const freshProof = z.object({ old_password: oldPassword });

/** A user's authenticator app and recovery codes (auth §6). */
export const totpRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/totp/setup'),
    access: 'user',
    scope: 'none',
    summary: "Create a secret for the caller's authenticator app; it takes effect when it is confirmed",
    params: authParams,
    body: freshProof,
    answers: {
      200: wholeBody(setup.extend({ data: setup })),
      403: unprovedCaller,
      409: 'an app is already in use',
      422: 'switched off',
      429: 'too many wrong passwords',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const data = await setUpTotp(parts, collection, callerProof(collection, input));
        // The members are at the top and under `data` (auth §6.1).
        return { status: 200, body: { ...data, data } };
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/totp/confirm'),
    access: 'user',
    scope: 'none',
    summary: 'Confirm the authenticator app with one of its codes',
    params: authParams,
    body: z.object({ code: text }),
    answers: {
      200: z.object({ enabled: z.literal(true), codes }),
      403: otherCollection,
      409: 'an app is already in use',
      422: 'switched off, nothing set up, or the code is wrong',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { id } = holderIn(collection, input.context);
        return ok({ enabled: true, codes: await confirmTotp(parts, collection, id, input.body.code, originOf(input)) });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/totp/disable'),
    access: 'user',
    scope: 'none',
    summary: 'Remove the authenticator app, with one of its codes and the old password',
    params: authParams,
    body: z.object({ code: text, old_password: oldPassword }),
    answers: {
      200: z.object({ enabled: z.literal(false) }),
      403: unprovedCaller,
      422: 'no app is in use, or the code is wrong',
      429: 'too many wrong codes',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const proof = callerProof(collection, input);
        await disableTotp(parts, collection, proof, input.body.code, originOf(input));
        return ok({ enabled: false });
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/totp/recovery/regenerate'),
    access: 'user',
    scope: 'none',
    summary: 'Replace the recovery codes',
    params: authParams,
    body: freshProof,
    answers: {
      200: z.object({ codes }),
      403: unprovedCaller,
      422: 'no app is in use',
      429: 'too many wrong passwords',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const proof = callerProof(collection, input);
        return ok({ codes: await regenerateRecoveryCodes(parts, collection, proof, originOf(input)) });
      }),
  }),
  route({
    method: 'GET',
    path: authPath('/totp/recovery/status'),
    access: 'user',
    scope: 'none',
    summary: 'Count the recovery codes and the unused ones',
    params: authParams,
    answers: { 200: z.object({ total: z.int(), remaining: z.int() }), 403: otherCollection },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        ok(await recoveryStatus(parts, collection, callerIn(collection, input.context).id)),
      ),
  }),
];
