import type { ServiceAccount } from '@recordbus/settings';
import { importPKCS8, SignJWT } from 'jose';
import { bounded, exchangeLimits, type ProviderDeps, readJson } from './provider.ts';
import { withRetries } from './with-retries.ts';

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const defaultTokenUrl = 'https://oauth2.googleapis.com/token';
const assertionSec = 3600;
/** A token is not used so close to its end. */
const marginSec = 300;

interface AccessToken {
  readonly text: string;
  readonly expiresAtSec: number;
}

/** Gives access tokens of a service account. */
export interface AccessTokens {
  get(account: ServiceAccount): Promise<string>;
  /** Forgets the token, which was refused. */
  forget(account: ServiceAccount): void;
}

/** Exchanges signed assertions for access tokens (RFC 7523 §2.1), and keeps each until shortly before its end. */
export function createAccessTokens(deps: ProviderDeps): AccessTokens {
  /** Settings give the same object until they change. */
  const known = new WeakMap<ServiceAccount, Promise<AccessToken>>();
  const nowSec = () => Math.floor(deps.clock() / 1000);

  async function get(account: ServiceAccount): Promise<string> {
    const asked = known.get(account);
    const token = await asked;
    if (token && token.expiresAtSec - marginSec > nowSec()) return token.text;
    // Another caller may have asked for a new one meanwhile.
    if (known.get(account) === asked) {
      const asking = fetchToken(deps, account, nowSec());
      known.set(account, asking);
      asking.catch(() => known.delete(account));
    }
    return get(account);
  }
  return { get, forget: (account) => known.delete(account) };
}

async function fetchToken(deps: ProviderDeps, account: ServiceAccount, nowSec: number): Promise<AccessToken> {
  const tokenUrl = account.token_uri ?? defaultTokenUrl;
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.private_key_id && { kid: account.private_key_id }) })
    .setIssuer(account.client_email)
    .setAudience(tokenUrl)
    .setIssuedAt(nowSec)
    .setExpirationTime(nowSec + assertionSec)
    .sign(await importPKCS8(account.private_key, 'RS256'));
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  const response = await withRetries(deps, () =>
    deps.client.request(tokenUrl, {
      ...exchangeLimits,
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: new URLSearchParams(form).toString(),
    }),
  );
  const answer = readJson(response);
  if (response.status !== 200 || typeof answer?.access_token !== 'string') {
    const words = [answer?.error, answer?.error_description].filter((word) => typeof word === 'string').join(': ');
    throw new Error(bounded(`the service account got no access token: ${words || `status ${response.status}`}`));
  }
  const lifeSec = typeof answer.expires_in === 'number' ? answer.expires_in : assertionSec;
  return { text: answer.access_token, expiresAtSec: nowSec + Math.max(lifeSec, 2 * marginSec) };
}
