import { findAccount, listAccounts, listPasskeys } from '@recordbus/accounts';
import { notFound, validationFailed } from '@recordbus/errors';
import { exactText, flag, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import {
  block,
  type Change,
  endSessionsOf,
  linkProvider,
  mailReset,
  removePasskey,
  resetSecondFactor,
  unblock,
  unlinkProvider,
} from '../administration/change-account.ts';
import { originOf } from '../auth-parts.ts';
import { isSaneId } from '../oauth/identity.ts';
import type { OauthParts } from '../oauth/oauth-parts.ts';
import { listSessions } from '../sessions/session-rows.ts';
import { admitTo, authParams } from './auth-paths.ts';
import { passkeyJson, presentPasskey } from './passkey-schemas.ts';
import { sessionJson } from './session-schemas.ts';

const base = '/api/v1/admin/users/:collection';
const onePath = `${base}/:id`;
const oneParams = authParams.extend({ id: z.string() });
const noSuchUser = 'no such auth collection or user';
const unixSec = z.int().describe('unix seconds');

const account = z
  .object({
    id: z.string(),
    email: z.string(),
    verified: z.boolean(),
    anonymous: z.boolean(),
    second_factor: z.boolean().describe('whether an authenticator app is in use'),
    blocked_at: unixSec.nullable(),
    created_at: unixSec,
    last_used_at: unixSec.nullable().describe('when an open session was last used'),
  })
  .meta({ id: 'UserAccount' });

const details = account
  .extend({
    has_password: z.boolean(),
    recovery_codes: z.int().describe('unused recovery codes'),
    links: z.array(z.object({ provider: z.string(), created_at: unixSec })),
    passkeys: z.array(passkeyJson),
    sessions: z.array(sessionJson.omit({ current: true })),
  })
  .meta({ id: 'UserDetails' });

const wantedLink = z.strictObject({
  subject: z
    .string('must be a string')
    .refine(isSaneId, 'must have 1 to 255 characters, and none for control')
    .describe("the user's permanent id at the provider"),
});

type Input = Parameters<typeof originOf>[0] & {
  readonly params: { readonly collection: string; readonly id: string };
  readonly context: RequestContext;
};

/** The routes with which admins list an auth collection's users and manage their access (admins §8). */
export function userAdminRoutes(parts: OauthParts): Route[] {
  const { database, collections, nowSec } = parts;
  const admit = admitTo(collections);

  const present = async (collection: Collection, id: string) => {
    const found = await findAccount(database.query, collection, id);
    if (!found) throw notFound('user');
    const passkeys = await listPasskeys(database.query, { realm: collection.id, accountId: id });
    const sessions = await listSessions(database.query, id, nowSec());
    return ok({ ...found, passkeys: passkeys.map(presentPasskey), sessions });
  };
  /** Makes a change and answers the changed account. */
  const changed = (input: Input, work: (target: Change) => Promise<void>) =>
    collections.serve(input.params.collection, async (collection) => {
      const { id } = input.params;
      await work({ collection, id, origin: originOf(input) });
      return present(collection, id);
    });

  return [
    route({
      method: 'GET',
      path: base,
      access: 'admin',
      scope: 'admin',
      summary: "List an auth collection's users, newest first",
      params: authParams,
      query: pageQuery.extend({
        search: exactText.describe('part of the address, or an id'),
        blocked: flag.describe('only blocked users'),
      }),
      answers: { 200: pageOf(account), 404: 'no such auth collection' },
      admit,
      handler: ({ params, query: { search = '', blocked, ...paging } }) =>
        collections.serve(params.collection, async (collection) => {
          const wanted = { ...paging, search, onlyBlocked: blocked };
          const { rows, totalItems } = await listAccounts(database.query, collection, wanted);
          return page(rows, { ...paging, totalItems });
        }),
    }),
    route({
      method: 'GET',
      path: onePath,
      access: 'admin',
      scope: 'admin',
      summary: 'Get a user with sessions, second factor, passkeys and links to providers',
      params: oneParams,
      answers: { 200: details, 404: noSuchUser },
      admit,
      handler: ({ params }) => collections.serve(params.collection, (collection) => present(collection, params.id)),
    }),
    route({
      method: 'DELETE',
      path: `${onePath}/sessions`,
      access: 'admin',
      scope: 'admin',
      summary: "End a user's sessions, and the account's pending links",
      params: oneParams,
      answers: { 200: details, 404: noSuchUser },
      admit,
      handler: (input) => changed(input, (target) => endSessionsOf(parts, target)),
    }),
    route({
      method: 'DELETE',
      path: `${onePath}/sessions/:session`,
      access: 'admin',
      scope: 'admin',
      summary: "End one of a user's sessions",
      params: oneParams.extend({ session: z.string() }),
      answers: { 200: details, 404: `${noSuchUser} or session` },
      admit,
      handler: (input) => changed(input, (target) => endSessionsOf(parts, target, input.params.session)),
    }),
    route({
      method: 'DELETE',
      path: `${onePath}/second-factor`,
      access: 'admin',
      scope: 'admin',
      summary: "Remove a user's authenticator app and recovery codes",
      params: oneParams,
      answers: { 200: details, 404: noSuchUser, 422: 'no app is in use' },
      admit,
      handler: (input) => changed(input, (target) => resetSecondFactor(parts, target)),
    }),
    route({
      method: 'PUT',
      path: `${onePath}/links/:provider`,
      access: 'admin',
      scope: 'admin',
      summary: 'Link a user to an identity at a provider, which another system has proved',
      params: oneParams.extend({ provider: z.string().max(64) }),
      body: wantedLink,
      answers: { 200: details, 404: noSuchUser, 409: "the identity is another user's" },
      admit,
      handler: (input) =>
        changed(input, async (target) => {
          const { provider } = input.params;
          const issuer = await parts.oauth.issuerOf(provider);
          if (issuer === undefined) throw validationFailed({ provider: 'has no issuer in the settings' });
          await linkProvider(parts, target, { provider, issuer, providerUserId: input.body.subject });
        }),
    }),
    route({
      method: 'DELETE',
      path: `${onePath}/links/:provider`,
      access: 'admin',
      scope: 'admin',
      summary: "Remove a user's links to a provider",
      params: oneParams.extend({ provider: z.string() }),
      answers: { 200: details, 404: `${noSuchUser} or link`, 409: 'the user has no other way to sign in' },
      admit,
      handler: (input) => changed(input, (target) => unlinkProvider(parts, target, input.params.provider)),
    }),
    route({
      method: 'DELETE',
      path: `${onePath}/passkeys/:passkey`,
      access: 'admin',
      scope: 'admin',
      summary: "Remove one of a user's passkeys",
      params: oneParams.extend({ passkey: z.string() }),
      answers: { 200: details, 404: `${noSuchUser} or passkey`, 409: 'the user has no other way to sign in' },
      admit,
      handler: (input) => changed(input, (target) => removePasskey(parts, target, input.params.passkey)),
    }),
    route({
      method: 'POST',
      path: `${onePath}/password-reset`,
      access: 'admin',
      scope: 'admin',
      summary: 'Mail a user a link for a new password',
      params: oneParams,
      answers: { 200: details, 404: noSuchUser, 409: 'the user has no address', 422: 'mail is not configured' },
      admit,
      handler: (input) => changed(input, (target) => mailReset(parts, target)),
    }),
    route({
      method: 'POST',
      path: `${onePath}/block`,
      access: 'admin',
      scope: 'admin',
      summary: 'Block a user: all tokens end, and no sign-in opens a session',
      params: oneParams,
      answers: { 200: details, 404: noSuchUser },
      admit,
      handler: (input) => changed(input, (target) => block(parts, target)),
    }),
    route({
      method: 'POST',
      path: `${onePath}/unblock`,
      access: 'admin',
      scope: 'admin',
      summary: "Lift a user's block",
      params: oneParams,
      answers: { 200: details, 404: noSuchUser },
      admit,
      handler: (input) => changed(input, (target) => unblock(parts, target)),
    }),
  ];
}
