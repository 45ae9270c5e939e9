import type { Settings } from '@recordbus/settings';
import { decodeJwt } from 'jose/jwt/decode';
import type { Provider } from '../provider.ts';
import { type Json, objectOf } from '../provider-http.ts';

/**
 * A tenant's owner can enter any address ("nOAuth"), so an address counts only where Microsoft says that its domain is
 * verified. https://learn.microsoft.com/entra/identity-platform/optional-claims-reference
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
      const { id, displayName: name } = await get('https://graph.microsoft.com/v1.0/me');
      const stated = readIdToken(tokens.id_token);
      const email = stated?.email;
      const proved = stated?.verified_primary_email;
      const isProved = Array.isArray(proved) && proved.includes(email);
      return { id, name, email, verified: isProved || edovOf(stated?.xms_edov) };
    },
  };
}

/** The token comes from the token endpoint, so TLS replaces checking its signature (OIDC Core §3.1.3.7). */
function readIdToken(token: unknown): Json | undefined {
  try {
    return typeof token === 'string' ? objectOf(decodeJwt(token)) : undefined;
  } catch {
    return undefined;
  }
}

/** Microsoft sends this claim as a boolean, a number or a text. */
const edovOf = (claim: unknown): unknown => ['true', 1, '1'].includes(claim as string) || claim;
