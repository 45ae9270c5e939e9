import type { Settings } from '@recordbus/settings';
import { decodeJwt } from 'jose/jwt/decode';
import type { Provider } from '../provider.ts';
import { type Json, objectOf } from '../provider-http.ts';

/**
 * Whoever has a tenant can write any address into it ("nOAuth"): one counts only where Microsoft says that its domain
 * was proved. https://learn.microsoft.com/entra/identity-platform/optional-claims-reference
 */
export function microsoft(settings: Pick<Settings, 'get'>): Provider {
  const base = `https://login.microsoftonline.com/${settings.get('oauth2.microsoft.tenant')}/oauth2/v2.0`;
  return {
    displayName: 'Microsoft',
    authorizeUrl: `${base}/authorize`,
    tokenUrl: `${base}/token`,
    scopes: 'openid profile email User.Read',
    authentication: 'form',
    pkce: 'offered',
    async readClaims({ tokens, get }) {
      const { id } = await get('https://graph.microsoft.com/v1.0/me');
      const stated = readIdToken(tokens.id_token);
      const email = stated?.email;
      const proved = stated?.verified_primary_email;
      return { id, email, verified: Array.isArray(proved) && proved.includes(email) ? true : stated?.xms_edov };
    },
  };
}

/** It comes from the token endpoint itself, so its signature says no more than TLS does (OIDC Core §3.1.3.7). */
function readIdToken(token: unknown): Json | undefined {
  try {
    return typeof token === 'string' ? objectOf(decodeJwt(token)) : undefined;
  } catch {
    return undefined;
  }
}
