import { createPrivateKey } from 'node:crypto';
import type { ServiceAccount } from '@recordbus/settings';
import { SignJWT } from 'jose/jwt/sign';
import { bounded, type ProviderDeps, readJson, requestLimits } from './provider.ts';
import { withRetries } from './with-retries.ts';

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
const defaultTokenUrl = 'https://oauth2.googleapis.com/token';
const assertionSec = 3600;
/** A token is replaced 5 minutes before its end, or after half its life if that is later. */
const marginSec = 300;

interface AccessToken {
  readonly text: string;
  readonly goodUntilSec: number;
}

/** Service accounts' access tokens. */
export interface AccessTokens {
  /** Returns a token. Throws when there is none before `endsAtMs`, or when the account is refused. */
  get(account: ServiceAccount, endsAtMs: number): Promise<string>;
  /** Drops a token that was refused, unless a newer one has replaced it. */
  drop(account: ServiceAccount, text: string): void;
}

/**
 * Exchanges signed assertions for access tokens (RFC 7523 §2.1) and keeps each until shortly before its end
 * (notifications §2.4). Callers during an exchange share its result.
 */
export function createAccessTokens(deps: ProviderDeps): AccessTokens {
  /** Keyed by the settings' account object, which stays the same until they change. */
  const kept = new WeakMap<ServiceAccount, AccessToken>();
  const exchanges = new WeakMap<ServiceAccount, Promise<AccessToken>>();
  const nowSec = () => Math.floor(deps.clock() / 1000);

  function exchange(account: ServiceAccount, endsAtMs: number): Promise<AccessToken> {
    const exchanging = fetchToken(deps, account, nowSec(), endsAtMs)
      .then((token) => {
        kept.set(account, token);
        return token;
      })
      .finally(() => exchanges.delete(account));
    exchanges.set(account, exchanging);
    return exchanging;
  }

  return {
    async get(account, endsAtMs) {
      const known = kept.get(account);
      if (known && known.goodUntilSec > nowSec()) return known.text;
      const token = await (exchanges.get(account) ?? exchange(account, endsAtMs));
      return token.text;
    },
    drop(account, text) {
      if (kept.get(account)?.text === text) kept.delete(account);
    },
  };
}

async function fetchToken(
  deps: ProviderDeps,
  account: ServiceAccount,
  nowSec: number,
  endsAtMs: number,
): Promise<AccessToken> {
  const tokenUrl = account.token_uri ?? defaultTokenUrl;
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.private_key_id && { kid: account.private_key_id }) })
    .setIssuer(account.client_email)
    .setAudience(tokenUrl)
    .setIssuedAt(nowSec)
    .setExpirationTime(nowSec + assertionSec)
    .sign(createPrivateKey(account.private_key));
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  const response = await withRetries(deps, endsAtMs, () =>
    deps.client.request(tokenUrl, {
      ...requestLimits,
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
  return { text: answer.access_token, goodUntilSec: nowSec + lifeSec - Math.min(marginSec, lifeSec / 2) };
}
