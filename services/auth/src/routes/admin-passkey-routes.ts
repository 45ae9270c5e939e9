import { created, ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import {
  beginAdminPasskey,
  finishAdminPasskey,
  listAdminPasskeys,
  removeAdminPasskey,
  renameAdminPasskey,
  signInAdminWithPasskey,
} from '../passkeys/admins-passkeys.ts';
import { beginSignIn } from '../passkeys/prove-passkey.ts';
import { adminRealm } from '../totp/factor-accounts.ts';
import { callingAdmin } from './admin-totp-routes.ts';
import { passkeyRequests } from './passkey-requests.ts';
import { presentPasskey, readNewPasskey, readPasskeySignIn } from './passkey-schemas.ts';
import { adminSession, secondFactorRequired } from './session-schemas.ts';

const path = '/api/v1/admin/passkeys';
const own = { access: 'admin', scope: 'none' } as const;
const anyone = { access: 'public', scope: 'none' } as const;
const params = z.object({ id: z.string() });
const unproved = 'the old password is missing or wrong';
const noSuchPasskey = 'no such passkey';

/** Admins' passkeys (admins §2.2). */
export const adminPasskeyRoutes = (parts: AuthParts): Route[] => [
  route({
    ...own,
    method: 'GET',
    path,
    summary: "List the calling admin's passkeys",
    ...passkeyRequests.list,
    handler: async (input) => ok((await listAdminPasskeys(parts, callingAdmin(input))).map(presentPasskey)),
  }),
  route({
    ...own,
    method: 'POST',
    path: `${path}/register/options`,
    summary: 'Get what a browser needs to make a passkey for the calling admin',
    ...passkeyRequests.beginAdding,
    answers: { ...passkeyRequests.beginAdding.answers, 403: unproved },
    handler: async (input) => ok(await beginAdminPasskey(parts, callingAdmin(input), input.body.old_password)),
  }),
  route({
    ...own,
    method: 'POST',
    idempotent: true,
    path: `${path}/register/verify`,
    summary: 'Add the passkey that the browser made for the calling admin',
    ...passkeyRequests.finishAdding,
    handler: async (input) =>
      created(presentPasskey(await finishAdminPasskey(parts, callingAdmin(input), readNewPasskey(input.body)))),
  }),
  route({
    ...own,
    method: 'PATCH',
    path: `${path}/:id`,
    summary: "Rename one of the calling admin's passkeys",
    params,
    ...passkeyRequests.rename,
    answers: { ...passkeyRequests.rename.answers, 404: noSuchPasskey },
    handler: async (input) => {
      const renamed = { id: input.params.id, name: input.body.name };
      return ok(presentPasskey(await renameAdminPasskey(parts, callingAdmin(input), renamed)));
    },
  }),
  route({
    ...own,
    method: 'DELETE',
    path: `${path}/:id`,
    summary: "Remove one of the calling admin's passkeys",
    params,
    ...passkeyRequests.remove,
    answers: { ...passkeyRequests.remove.answers, 403: unproved, 404: noSuchPasskey },
    async handler(input) {
      const { id } = input.params;
      await removeAdminPasskey(parts, callingAdmin(input), { id, oldPassword: input.body.old_password });
      return ok({ removed: id });
    },
  }),
  route({
    ...anyone,
    method: 'POST',
    path: `${path}/login/options`,
    summary: 'Get what a browser needs to sign in as an admin with a passkey; it names no account',
    ...passkeyRequests.beginSignIn,
    handler: async () => ok(await beginSignIn(parts, adminRealm)),
  }),
  route({
    ...anyone,
    method: 'POST',
    path: `${path}/login/verify`,
    action: 'auth',
    summary: 'Sign in as an admin with the passkey that the browser used',
    ...passkeyRequests.finishSignIn,
    answers: { 200: z.union([adminSession, secondFactorRequired]), ...passkeyRequests.finishSignIn.answers },
    handler: async (input) => ok(await signInAdminWithPasskey(parts, readPasskeySignIn(input.body), originOf(input))),
  }),
];
