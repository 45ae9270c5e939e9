import { createPrivateKey } from 'node:crypto';
import type { Logger } from '@recordbus/process/logging';
import type { Settings } from '@recordbus/settings';
import { SignJWT } from 'jose/jwt/sign';
import { createIdTokenReader } from '../id-token-reader.ts';
import type { Provider } from '../provider.ts';
import { misconfigured } from '../provider-errors.ts';
import type { ProviderHttp } from '../provider-http.ts';

const issuer = 'https://appleid.apple.com';

/** oauth §1.5. A secret is valid for a minute longer than it is cached, so that the last request with it succeeds. */
const cachedForSec = 14 * 60;
const secretLifetimeSec = 15 * 60;

interface AppleDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly http: ProviderHttp;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/**
 * Creates the provider, whose client secret is signed. It has no userinfo endpoint: the identity is in the id token.
 * https://developer.apple.com/documentation/signinwithapplerestapi
 */
export function createApple({ settings, http, log, nowSec }: AppleDeps): () => Provider {
  let cached: { readonly of: string; readonly secret: string; readonly untilSec: number } | undefined;
  const readIdToken = createIdTokenReader({
    http,
    nowSec,
    keysUrl: `${issuer}/auth/keys`,
    issuers: [issuer, 'https://account.apple.com'],
  });

  async function signSecret(): Promise<string> {
    const clientId = settings.get('oauth2.apple.client_id');
    const teamId = settings.get('oauth2.apple.team_id');
    const keyId = settings.get('oauth2.apple.key_id');
    const privateKey = settings.get('oauth2.apple.private_key');
    const of = [clientId, teamId, keyId, privateKey].join('\n');
    const now = nowSec();
    if (cached?.of === of && now < cached.untilSec) return cached.secret;
    try {
      const secret = await new SignJWT()
        .setProtectedHeader({ alg: 'ES256', kid: keyId })
        .setIssuer(teamId)
        .setSubject(clientId)
        .setAudience(issuer)
        .setIssuedAt(now)
        .setExpirationTime(now + secretLifetimeSec)
        .sign(createPrivateKey(privateKey));
      cached = { of, secret, untilSec: now + cachedForSec };
      return secret;
    } catch (error) {
      log.warn({ err: error }, 'cannot sign with oauth2.apple.private_key: it is not a P-256 private key');
      throw misconfigured();
    }
  }

  const apple: Provider = {
    displayName: 'Apple',
    authorizeUrl: `${issuer}/auth/authorize`,
    tokenUrl: `${issuer}/auth/token`,
    scopes: 'name email',
    authorizeParameters: { response_mode: 'form_post' },
    authentication: 'form',
    pkce: 'offered',
    needs: ['oauth2.apple.team_id', 'oauth2.apple.key_id', 'oauth2.apple.private_key'],
    signSecret,
    async readClaims({ clientId, tokens }) {
      const { sub, email, email_verified } = await readIdToken(tokens.id_token, clientId);
      // Apple documents it as "a string or Boolean value".
      return { id: sub, email, verified: email_verified === 'true' || email_verified };
    },
  };
  return () => apple;
}
