import { ok, type Route, route, toJsonSchema, wholeBody } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { enrollApp } from '../sign-in/finish-enrollment.ts';
import { confirmTotp, disableTotp, recoveryStatus, regenerateRecoveryCodes, setUpTotp } from '../totp/authenticator.ts';
import { admitTo, authParams, authPath, callerIn, callerProof, oldPassword, text } from './auth-paths.ts';
import { enrollingBody, enrollingCaller, enrollmentToken, finishedSignIn, readBody } from './enrolling-caller.ts';

const codes = z.array(z.string()).describe('ten recovery codes, shown this once');
const setup = z.object({ secret: z.string(), otpauth_url: z.string() });
const otherCollection = 'the token belongs to a user in another collection';
const unprovedCaller = `${otherCollection}, or the caller does not prove that the account is theirs`;
const notEnrolling = 'neither a session nor a valid enrollment token';
const freshProof = z.object({ old_password: oldPassword });
const setupBody = freshProof.extend({ enrollment_token: enrollmentToken });
const confirmBody = z.object({ code: text, enrollment_token: enrollmentToken });

/** A user's authenticator app and recovery codes (auth §6). */
export const totpRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/totp/setup'),
    access: 'user',
    takesEnrollment: true,
    scope: 'none',
    summary: "Create a secret for the caller's authenticator app; it takes effect when it is confirmed",
    params: authParams,
    body: enrollingBody,
    described: { body: toJsonSchema(setupBody, 'input') },
    answers: {
      200: wholeBody(setup.extend({ data: setup })),
      401: notEnrolling,
      403: unprovedCaller,
      409: 'an app is already in use',
      422: 'switched off',
      429: 'too many wrong passwords',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const caller = await enrollingCaller(parts, collection, input);
        const { old_password: oldPassword } = readBody(setupBody, input.body);
        const data = await setUpTotp(parts, collection, { ...caller, oldPassword });
        // The members are at the top and under `data` (auth §6.1).
        return { status: 200, body: { ...data, data } };
      }),
  }),
  route({
    method: 'POST',
    path: authPath('/totp/confirm'),
    access: 'user',
    takesEnrollment: true,
    scope: 'none',
    action: 'auth',
    summary: 'Confirm the authenticator app with one of its codes; with an enrollment token this finishes the sign-in',
    params: authParams,
    body: enrollingBody,
    described: { body: toJsonSchema(confirmBody, 'input') },
    answers: {
      200: z.object({ enabled: z.literal(true), codes, ...finishedSignIn }),
      401: notEnrolling,
      403: otherCollection,
      409: 'an app is already in use',
      422: 'switched off, nothing set up, or the code is wrong',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { userId, enrollment } = await enrollingCaller(parts, collection, input);
        const { code } = readBody(confirmBody, input.body);
        const origin = originOf(input);
        if (!enrollment)
          return ok({ enabled: true, codes: await confirmTotp(parts, collection, userId, code, origin) });
        return ok({ enabled: true, ...(await enrollApp(parts, collection, { enrollment, code }, origin)) });
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
