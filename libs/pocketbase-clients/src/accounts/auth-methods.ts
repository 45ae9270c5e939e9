import { createHash, randomBytes } from 'node:crypto';
import type { Collection } from '@recordbus/schema';
import type { Exchange, Reply } from '../exchange.ts';
import { callForJson, dataOf, isObject, isSuccess, type JsonObject } from '../product.ts';
import { pickFields } from '../records/pick-fields.ts';
import { toGeneralRefusal } from '../records/to-refusal.ts';
import { notFound } from '../refusal.ts';
import { authPath } from './requests.ts';

/** How long a code lasts, in seconds (auth §5.2). */
const codeSec = 600;

/** `auth-methods`: the ways to sign in. */
export async function serveAuthMethods(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { request, accounts } = exchange;
  const providers = await listProviders(exchange, collection);
  const enabled = accounts.takes(collection, 'password');
  const identityFields = enabled ? accounts.identityFieldsOf(collection) : [];
  const body = {
    password: { identityFields, enabled },
    oauth2: { providers, enabled: providers.length > 0 },
    mfa: accounts.mailsFactors(collection) ? { enabled: true, duration: codeSec } : { enabled: false, duration: 0 },
    otp: accounts.takes(collection, 'otp') ? { enabled: true, duration: codeSec } : { enabled: false, duration: 0 },
    authProviders: providers,
    usernamePassword: identityFields.includes('username'),
    emailPassword: enabled,
  };
  return { status: 200, body: pickFields(body, request.query.get('fields')) };
}

/** The names of the providers at which users sign in. */
export const knownProviders = async (exchange: Exchange, collection: Collection): Promise<readonly string[]> =>
  (await readProviders(exchange, collection)).map(({ name }) => String(name));

async function readProviders({ call }: Exchange, collection: Collection): Promise<readonly JsonObject[]> {
  const answer = await callForJson(call, { method: 'GET', path: `${authPath(collection)}/oauth2/providers` });
  if (!isSuccess(answer)) throw toGeneralRefusal(answer) ?? notFound();
  const { data } = answer.json;
  return Array.isArray(data) ? data.filter(isObject) : [];
}

async function listProviders(exchange: Exchange, collection: Collection): Promise<readonly JsonObject[]> {
  const providers = await readProviders(exchange, collection);
  const described = await Promise.all(providers.map((provider) => describeProvider(exchange, collection, provider)));
  return described.filter((one) => one !== undefined);
}

/**
 * Describes a provider with an address at which a browser signs in. The client keeps the verifier (RFC 7636) and adds
 * its own `redirect_uri`, so the address ends with this parameter's name.
 */
async function describeProvider(
  { call, request }: Exchange,
  collection: Collection,
  provider: JsonObject,
): Promise<JsonObject | undefined> {
  const name = String(provider.name);
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const state = randomBytes(16).toString('base64url');
  const query = new URLSearchParams({
    provider: name,
    redirectUri: `${request.baseUrl}/api/oauth2-redirect`,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  });
  const path = `${authPath(collection)}/oauth2/authorize?${query}`;
  const answer = await callForJson(call, { method: 'GET', path });
  const { authorize_url: address } = dataOf(answer);
  if (typeof address !== 'string') return undefined;
  const url = new URL(address);
  url.searchParams.delete('redirect_uri');
  const hasChallenge = url.searchParams.has('code_challenge');
  return {
    name,
    displayName: provider.displayName,
    state,
    authURL: `${url}&redirect_uri=`,
    codeVerifier: hasChallenge ? codeVerifier : '',
    codeChallenge: hasChallenge ? codeChallenge : '',
    codeChallengeMethod: hasChallenge ? 'S256' : '',
  };
}
