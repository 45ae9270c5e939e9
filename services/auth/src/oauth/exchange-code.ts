import type { ClaimsSource, Provider } from './provider.ts';
import { providerFailed, refusedByProvider } from './provider-errors.ts';
import type { Json, ProviderAnswer, ProviderHttp } from './provider-http.ts';
import { readRefusal } from './provider-refusal.ts';

/** An authorization's result, from the browser. */
export interface Grant {
  readonly code: string;
  readonly redirectUri: string;
  /** Present exactly when a challenge was sent (RFC 7636 §4.5). */
  readonly codeVerifier: string | undefined;
}

/** This service as one provider's client. */
export interface Client {
  readonly http: ProviderHttp;
  readonly provider: Provider;
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Exchanges a code for an access token; returns the claims' source. Throws 422 with the provider's message when the
 * provider refuses, 502 when it fails (oauth §7).
 */
export async function exchangeCode(client: Client, grant: Grant): Promise<ClaimsSource> {
  const { http, clientId, clientSecret } = client;
  const secrets = [clientSecret, grant.code, grant.codeVerifier ?? ''];
  const answer = await requestToken(client, grant);
  if (isRefusal(answer)) throw refusedByProvider(readRefusal(answer, secrets));
  const tokens = answer.json ?? {};
  const accessToken = tokens.access_token;
  if (typeof accessToken !== 'string' || !isBearerToken(accessToken)) throw providerFailed();

  const request = (url: string, headers: readonly (readonly [string, string])[] = []) =>
    http(url, { method: 'GET', headers: [['Authorization', `Bearer ${accessToken}`], ...headers] });
  return {
    clientId,
    clientSecret,
    accessToken,
    tokens,
    async get(url, headers) {
      const profile = await request(url, headers);
      if (isRefusal(profile)) throw refusedByProvider(readRefusal(profile, [...secrets, accessToken]));
      return profile.json ?? {};
    },
    async find(url) {
      const profile = await request(url);
      return isRefusal(profile) ? undefined : profile.json;
    },
  };
}

async function requestToken(client: Client, grant: Grant): Promise<ProviderAnswer> {
  const { authentication } = client.provider;
  if (authentication !== 'basic_or_form') return postGrant(client, grant, authentication);
  const answer = await postGrant(client, grant, 'basic');
  return answer.json?.error === 'invalid_client' ? postGrant(client, grant, 'form') : answer;
}

function postGrant(
  { http, provider, clientId, clientSecret }: Client,
  { code, redirectUri, codeVerifier }: Grant,
  authentication: 'basic' | 'form' | 'basic_json',
): Promise<ProviderAnswer> {
  const grant = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    ...(codeVerifier && { code_verifier: codeVerifier }),
  };
  const basic = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const authorization = ['Authorization', `Basic ${Buffer.from(basic).toString('base64')}`] as const;
  const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
  const requests = {
    basic: { headers: [form, authorization], body: formOf(grant) },
    form: { headers: [form], body: formOf({ ...grant, client_id: clientId, client_secret: clientSecret }) },
    basic_json: {
      headers: [['Content-Type', 'application/json'], authorization] as const,
      body: JSON.stringify(grant),
    },
  };
  return http(provider.tokenUrl, { method: 'POST', ...requests[authentication] });
}

const formOf = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString();

/** Some providers refuse with 200: GitHub with an error, Slack with `ok: false`. */
const isRefusal = ({ status, json }: ProviderAnswer): boolean => status >= 400 || Boolean(json?.error) || isNotOk(json);

const isNotOk = (json: Json | undefined): boolean => json?.ok === false;

/** Whether a token fits a header. */
const isBearerToken = (token: string): boolean => /^[\x21-\x7e]{1,16384}$/.test(token);
