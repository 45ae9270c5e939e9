import { listLinks } from '@recordbus/accounts';
import { malformedParameter, unauthenticated } from '@recordbus/errors';
import { ok, type Reply, type Route, route, wholeBody } from '@recordbus/http';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import { originOf } from '../auth-parts.ts';
import { takesWay } from '../features.ts';
import { providerProfile } from '../identity/provider-profile.ts';
import { authorize } from '../oauth/authorize.ts';
import { identify, refuseProvidedFields, signInWithIdentity } from '../oauth/exchange.ts';
import { confirmMerge } from '../oauth/merge.ts';
import type { OauthParts } from '../oauth/oauth-parts.ts';
import { unlink } from '../oauth/unlink.ts';
import {
  admitTo,
  admitToWay,
  authParams,
  authPath,
  callerIn,
  callerProof,
  holderIn,
  oldPassword,
  signUpRefused,
} from './auth-paths.ts';
import { authorizeQuery, exchangeBody, mergeBody } from './oauth-schemas.ts';
import { enrollmentRequired, secondFactorRequired, userSession } from './session-schemas.ts';

const providerName = z.string();
/** The answer to a sign-in at a provider. */
const providerSession = userSession.extend({ profile: providerProfile }).meta({ id: 'ProviderSession' });

/** The answer to a merge. */
const linkedSession = userSession
  .extend({ linked_provider: providerName, profile: providerProfile.optional() })
  .meta({ id: 'LinkedSession' });

const mergeRequired = z
  .object({
    merge_required: z.literal(true),
    merge_token: z.string(),
    email: z.string(),
    provider: providerName,
  })
  .meta({ id: 'MergeRequired' });
const notEnabled = 'the collection takes no providers, or the provider is not enabled';

/** Sign-in at a provider (oauth). */
export const oauthRoutes = (parts: OauthParts): Route[] => [
  route({
    method: 'GET',
    path: authPath('/oauth2/providers'),
    access: 'public',
    scope: 'none',
    summary: 'List the enabled providers; none if the collection takes none',
    params: authParams,
    answers: {
      200: z.array(z.object({ name: providerName, displayName: z.string() })),
      404: 'no such auth collection',
    },
    admit: admitTo(parts.collections),
    async handler({ params }) {
      const isTaken = takesWay(parts.settings, { name: params.collection }, 'oauth2');
      const providers = isTaken ? await parts.oauth.list() : [];
      return ok(providers.map(({ name, displayName }) => ({ name, displayName })));
    },
  }),
  route({
    method: 'GET',
    path: authPath('/oauth2/authorize'),
    access: 'public',
    scope: 'none',
    summary: 'Get the URL at a provider where a browser signs in',
    params: authParams,
    query: authorizeQuery,
    answers: {
      200: z.object({ authorize_url: z.string() }),
      400: 'a parameter is missing or malformed',
      404: 'no such auth collection',
      422: notEnabled,
    },
    admit: admitToWay(parts, 'oauth2'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        ok({ authorize_url: await authorize(parts, collection, input.query) }),
      ),
  }),
  route({
    method: 'POST',
    path: authPath('/oauth2/exchange'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Sign in with the code with which the browser returned from a provider',
    params: authParams,
    body: exchangeBody,
    refusesBodyWith: 400,
    answers: {
      // A merge has its members at the top and under `data` (oauth §5.1).
      200: wholeBody(
        mergeRequired
          .partial()
          .extend({ data: z.union([providerSession, secondFactorRequired, enrollmentRequired, mergeRequired]) }),
      ),
      400: 'a member is missing or malformed',
      401: 'the state is used, expired, or belongs to another provider or redirect',
      403: signUpRefused,
      404: 'no such auth collection',
      422: `${notEnabled} or refused, or the collection refuses the user; details.provider has the provider's message`,
      502: 'the provider gave no valid answer',
    },
    admit: admitToWay(parts, 'oauth2'),
    async handler({ params, body, ...input }) {
      refuseProvidedFields(body.record, input.context.principal);
      // Outside `serve`, which may repeat its work: a code works once.
      const identity = await identify(parts, await parts.collections.get(params.collection), body);
      return parts.collections.serve(params.collection, async (collection) =>
        signedIn(await signInWithIdentity(parts, collection, { identity, record: body.record }, originOf(input))),
      );
    },
  }),
  route({
    method: 'POST',
    path: authPath('/oauth2/merge-confirm'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Link an account at a provider to an existing user, who proves it by password or session',
    params: authParams,
    body: mergeBody,
    refusesBodyWith: 400,
    answers: {
      200: z.union([linkedSession, secondFactorRequired, enrollmentRequired]),
      400: 'a member is missing or malformed',
      401: 'the merge_token is wrong, used or expired, or the password is wrong',
      403: 'the session belongs to another user or began more than 10 minutes ago, or the right password must be reset',
      404: 'no such auth collection',
      409: 'the account at the provider now belongs to another user',
      422: 'the collection takes no providers',
      429: 'too many failed attempts',
    },
    admit: admitToWay(parts, 'oauth2'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { mergeToken, password } = input.body;
        const proof = password === undefined ? { userId: sessionIn(collection, input.context).id } : { password };
        return ok(await confirmMerge(parts, collection, { mergeToken, proof }, originOf(input)));
      }),
  }),
  route({
    method: 'GET',
    path: authPath('/oauth2/links'),
    access: 'user',
    scope: 'none',
    summary: "List the caller's links to providers",
    params: authParams,
    answers: {
      200: z.array(
        z.object({
          provider: z.string(),
          provider_user_id: z.string().describe("the caller's id at the provider"),
          created: z.int().describe('in seconds since 1970'),
        }),
      ),
      403: 'the token belongs to a user in another collection',
      404: 'no such auth collection',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const links = await listLinks(parts.database.query, callerIn(collection, input.context).id);
        return ok(
          links.map(({ provider, providerUserId, createdAtSec }) => ({
            provider,
            provider_user_id: providerUserId,
            created: createdAtSec,
          })),
        );
      }),
  }),
  route({
    method: 'DELETE',
    path: authPath('/oauth2/:provider/unlink'),
    access: 'user',
    scope: 'none',
    summary: "Remove the caller's link to a provider",
    params: authParams.extend({ provider: z.string() }),
    body: z.object({ old_password: oldPassword }),
    answers: {
      200: z.object({ unlinked: z.string() }),
      403: 'a user in another collection, an admin who acts as one, or no proof that the account is theirs',
      404: 'no such auth collection, or no such link',
      409: 'the link is the only way in which the caller can sign in',
      429: 'too many wrong passwords',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) => {
        const { provider } = input.params;
        await unlink(parts, collection, callerProof(collection, input), provider, originOf(input));
        return ok({ unlinked: provider });
      }),
  }),
];

/**
 * Returns the session's user, which replaces the password. Refuses an admin who acts as the user, because the link and
 * the new session would outlast the impersonation. Throws 400 without a session, 401 for an invalid token.
 */
function sessionIn(collection: Collection, context: RequestContext): ReturnType<typeof holderIn> {
  const { principal } = context;
  if (principal.type === 'user') return holderIn(collection, context);
  if (principal.type === 'guest' && principal.rejectedToken) throw unauthenticated();
  throw malformedParameter('password', 'is required without a session');
}

/** Answers with a merge's members at the top and under `data` (oauth §5.1). */
const signedIn = (data: Awaited<ReturnType<typeof signInWithIdentity>>): Reply =>
  'merge_required' in data ? { status: 200, body: { ...data, data } } : ok(data);
