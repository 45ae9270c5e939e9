import type { Collection } from '@recordbus/schema';
import { type Exchange, type Reply, readJson, segment } from '../exchange.ts';
import { callForJson, dataOf, isObject, type JsonObject } from '../product.ts';
import { toBody } from '../records/to-body.ts';
import { blank, invalid, type MemberRefusal, Refusal } from '../refusal.ts';
import { knownProviders } from './auth-methods.ts';
import { sessionReply } from './session-reply.ts';

/** `auth-with-oauth2`: signs in with the code with which a browser returned from a provider. */
export async function serveOAuth(exchange: Exchange, collection: Collection): Promise<Reply> {
  const body = await readJson(exchange.request);
  const { provider, code, codeVerifier, createData } = body;
  const redirect = body.redirectURL ?? body.redirectUrl;
  const missing = Object.entries({ provider, code }).filter(([, value]) => !value);
  const known = await knownProviders(exchange, collection);
  if (known.length === 0) throw new Refusal(403, 'The collection is not configured to allow OAuth2 authentication.');
  const refusals = {
    ...Object.fromEntries(missing.map(([name]) => [name, blank])),
    ...(provider && !known.includes(String(provider)) ? { provider: noProvider(String(provider)) } : {}),
  };
  if (Object.keys(refusals).length > 0) throw invalid(refusals);
  const record = isObject(createData) ? recordOf(collection, createData) : {};
  const path = `/api/v1/auth/${segment(collection.name)}/oauth2/exchange`;
  const answer = await callForJson(exchange.call, {
    method: 'POST',
    path,
    body: {
      provider,
      code,
      redirectUri: redirect,
      ...(codeVerifier ? { code_verifier: codeVerifier } : {}),
      ...(Object.keys(record).length > 0 && { record }),
    },
  });
  const { profile } = dataOf(answer);
  return sessionReply(exchange, collection, answer, { meta: isObject(profile) ? metaOf(profile) : undefined });
}

const noProvider = (name: string): MemberRefusal => ({
  code: 'validation_invalid_provider',
  message: `Provider with name ${name.slice(0, 100)} is missing or is not enabled.`,
});

function recordOf(collection: Collection, createData: JsonObject): JsonObject {
  const { email: _, verified: __, ...named } = toBody(collection, createData, { id: '', isAdmin: false }).data;
  return named;
}

/** The profile, as PocketBase's clients read it. The provider's own tokens stay here. */
const metaOf = (profile: JsonObject): JsonObject => ({
  id: profile.id ?? '',
  name: profile.name ?? '',
  username: profile.username ?? '',
  email: profile.email ?? '',
  avatarURL: profile.avatar_url ?? '',
  rawUser: {},
  accessToken: '',
  refreshToken: '',
  expiry: '',
});
