import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';

/** A person with an account at the provider. */
export interface Person {
  readonly id: string;
  readonly email?: string;
  readonly email_verified?: boolean | string | number;
}

/** The redirect to the app and its parameters. */
interface Arrival {
  readonly code: string;
  readonly state: string;
}

/** An OpenID Connect provider with two clients that authenticate differently at the token endpoint. */
export interface OidcServer extends AsyncDisposable {
  readonly url: string;
  /** The settings with which the product uses it as the given client. */
  settings(client?: 'basic' | 'post'): Readonly<Record<string, string>>;
  /** Follows the authorization URL, signs the person in and returns the redirect. */
  visit(authorizeUrl: string, person: Person): Promise<Arrival>;
}

export const redirectUri = 'https://app.example.com/signed-in';

/** With characters that are special in a form and in a Basic header. */
const clientSecret = 'a+secret/with:signs&more%20=';

/** Starts a provider on a free port, which sends browsers to `returnTo`. */
export async function startOidcServer(returnTo = redirectUri): Promise<OidcServer> {
  const people = new Map<string, Person>();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, await configure(people, returnTo));
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/sign-in/')) void answer(request, response);
    else void signIn(provider, request, response);
  });
  return {
    url,
    settings: (client = 'basic') => ({
      'hooks.http.allow': '127.0.0.1',
      'oauth2.oidc.enabled': '1',
      'oauth2.oidc.client_id': `recordbus-${client}`,
      'oauth2.oidc.client_secret': clientSecret,
      'oauth2.oidc.authorization_url': `${url}/auth`,
      'oauth2.oidc.token_url': `${url}/token`,
      'oauth2.oidc.userinfo_url': `${url}/me`,
    }),
    async visit(authorizeUrl, person) {
      people.set(person.id, person);
      const start = new URL(authorizeUrl);
      start.searchParams.set('login_hint', person.id);
      return follow(start, returnTo);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Treats the request's login hint as the signed-in person. */
async function signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  await provider.interactionFinished(request, response, { login: { accountId: String(params.login_hint) } });
}

async function configure(people: ReadonlyMap<string, Person>, returnTo: string): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    clients: (['basic', 'post'] as const).map((method) => ({
      client_id: `recordbus-${method}`,
      client_secret: clientSecret,
      redirect_uris: [returnTo],
      token_endpoint_auth_method: `client_secret_${method}` as const,
    })),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, id) => {
      const { id: sub, ...claims } = people.get(id) ?? { id };
      return { accountId: id, claims: () => ({ sub, ...claims }) };
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    // Consent is granted.
    async loadExistingGrant({ oidc }) {
      const { client, account, provider } = oidc;
      if (!client || !account) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: account.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key for tests'] },
    pkce: { required: () => false },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  };
}

/** Follows redirects with a cookie jar, up to the redirect to the app. */
async function follow(start: URL, returnTo: string): Promise<Arrival> {
  const cookies = new Map<string, string>();
  let next = start;
  for (let hop = 0; hop < 10; hop += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
    if (next.href.startsWith(returnTo)) {
      const { code, state, ...problem } = Object.fromEntries(next.searchParams);
      if (code === undefined || state === undefined) throw new Error(`no code: ${JSON.stringify(problem)}`);
      return { code, state };
    }
  }
  throw new Error('the provider redirects too often');
}
