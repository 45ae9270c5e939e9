import { AppError } from '@recordbus/errors';
import type { JWTPayload } from 'jose';
import * as errors from 'jose/errors';
import { createLocalJWKSet } from 'jose/jwks/local';
import { jwtVerify } from 'jose/jwt/verify';
import { providerFailed, refusedByProvider } from './provider-errors.ts';
import type { ProviderHttp } from './provider-http.ts';

type KeySet = ReturnType<typeof createLocalJWKSet>;

interface IdTokenReaderOptions {
  readonly http: ProviderHttp;
  readonly nowSec: () => number;
  /** The signing keys' address (RFC 7517 §5). */
  readonly keysUrl: string;
  readonly issuers: readonly string[];
}

/** Keys are fetched again after an hour, and for a token with an unknown key after a minute. */
const keysLifetimeSec = 3600;
const keysMinAgeSec = 60;
const clockToleranceSec = 60;

/**
 * Creates the reader for a provider's id tokens. It verifies signature, issuer, audience and time (OIDC Core §3.1.3.7)
 * and returns the claims. Throws 422 for an invalid token, 502 when the keys cannot be fetched.
 */
export function createIdTokenReader({ http, nowSec, keysUrl, issuers }: IdTokenReaderOptions) {
  let keys: { readonly set: KeySet; readonly fetchedAtSec: number } | undefined;

  async function getKeys(maxAgeSec: number): Promise<KeySet> {
    const now = nowSec();
    if (keys && now - keys.fetchedAtSec < maxAgeSec) return keys.set;
    const { json } = await http(keysUrl, { method: 'GET' });
    if (!Array.isArray(json?.keys)) throw providerFailed();
    try {
      const set = createLocalJWKSet({ keys: json.keys });
      keys = { set, fetchedAtSec: now };
      return set;
    } catch {
      throw providerFailed();
    }
  }

  const verify = async (token: string, audience: string, set: KeySet): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, set, {
      algorithms: ['RS256'],
      issuer: [...issuers],
      audience,
      currentDate: new Date(nowSec() * 1000),
      clockTolerance: clockToleranceSec,
      requiredClaims: ['exp', 'iat', 'sub'],
    });
    if (payload.aud !== audience) throw new Error('the token is for others too');
    return payload;
  };

  return async (token: unknown, audience: string): Promise<JWTPayload> => {
    const text = typeof token === 'string' ? token : '';
    const set = await getKeys(keysLifetimeSec);
    try {
      return await verify(text, audience, set).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // The provider may have changed its keys.
        return verify(text, audience, await getKeys(keysMinAgeSec));
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw refusedByProvider('the id token is not valid');
    }
  };
}
