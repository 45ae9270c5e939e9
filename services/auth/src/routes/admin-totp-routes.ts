import { unauthenticated } from '@recordbus/errors';
import { ok, type Route, route } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import {
  adminFactorStatus,
  type CallingAdmin,
  confirmAdminApp,
  removeAdminApp,
  replaceAdminCodes,
  setUpAdminApp,
} from '../totp/admin-authenticator.ts';
import { oldPassword, text } from './auth-paths.ts';

const path = '/api/v1/admin/totp';
const own = { access: 'admin', scope: 'none' } as const;
const codes = z.array(z.string()).describe('ten recovery codes, shown this once');
const proof = z.strictObject({ old_password: oldPassword });
const unproved = 'the old password is missing or wrong';

type Input = { readonly context: RequestContext } & Parameters<typeof originOf>[0];

/** Returns the calling admin. */
export const callingAdmin = (input: Input): CallingAdmin => {
  const { principal } = input.context;
  if (principal.type !== 'admin') throw unauthenticated();
  return { id: principal.id, origin: originOf(input) };
};

/** The calling admin's second factor (admins §2.1). */
export const adminTotpRoutes = (parts: AuthParts): Route[] => [
  route({
    ...own,
    method: 'GET',
    path,
    summary: 'Get whether the caller has an authenticator app, and how many recovery codes',
    answers: {
      200: z.object({ enabled: z.boolean(), recovery_codes: z.object({ total: z.int(), remaining: z.int() }) }),
    },
    handler: async (input) => ok(await adminFactorStatus(parts, callingAdmin(input))),
  }),
  route({
    ...own,
    method: 'POST',
    path: `${path}/setup`,
    summary: "Create a secret for the calling admin's authenticator app; it takes effect once confirmed",
    body: proof,
    answers: {
      200: z.object({ secret: z.string(), otpauth_url: z.string() }),
      403: unproved,
      409: 'an app is already in use',
      429: 'too many wrong passwords',
    },
    handler: async (input) => ok(await setUpAdminApp(parts, callingAdmin(input), input.body.old_password)),
  }),
  route({
    ...own,
    method: 'POST',
    path: `${path}/confirm`,
    summary: "Confirm the calling admin's authenticator app with one of its codes",
    body: z.strictObject({ code: text }),
    answers: {
      200: z.object({ enabled: z.literal(true), codes }),
      409: 'an app is already in use',
      422: 'nothing is set up, or the code is wrong',
      429: 'too many wrong codes',
    },
    handler: async (input) =>
      ok({ enabled: true, codes: await confirmAdminApp(parts, callingAdmin(input), input.body.code) }),
  }),
  route({
    ...own,
    method: 'POST',
    path: `${path}/disable`,
    summary: "Remove the calling admin's authenticator app, with one of its codes and the old password",
    body: z.strictObject({ code: text, old_password: oldPassword }),
    answers: {
      200: z.object({ enabled: z.literal(false) }),
      403: unproved,
      422: 'no app is in use, or the code is wrong',
      429: 'too many wrong codes',
    },
    async handler(input) {
      const { code, old_password: oldPassword } = input.body;
      await removeAdminApp(parts, callingAdmin(input), { code, oldPassword });
      return ok({ enabled: false });
    },
  }),
  route({
    ...own,
    method: 'POST',
    path: `${path}/recovery/regenerate`,
    summary: "Replace the calling admin's recovery codes",
    body: proof,
    answers: {
      200: z.object({ codes }),
      403: unproved,
      422: 'no app is in use',
      429: 'too many wrong passwords',
    },
    handler: async (input) =>
      ok({ codes: await replaceAdminCodes(parts, callingAdmin(input), input.body.old_password) }),
  }),
];
