import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/**
 * X. Without the right to read posts it refuses to show the profile. An address is there for apps that may ask for it,
 * and is a proved one then. https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code
 */
export const twitter: Provider = {
  displayName: 'X',
  authorizeUrl: 'https://x.com/i/oauth2/authorize',
  tokenUrl: 'https://api.x.com/2/oauth2/token',
  scopes: 'users.read users.email tweet.read',
  authentication: 'basic',
  pkce: 'always',
  async readClaims({ get }) {
    const { data } = await get('https://api.x.com/2/users/me?user.fields=id,confirmed_email');
    return { id: memberOf(data, 'id'), email: memberOf(data, 'confirmed_email'), verified: true };
  },
};
