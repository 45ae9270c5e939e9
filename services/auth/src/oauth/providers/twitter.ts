import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/**
 * X. The profile needs the scope to read posts. Apps with permission get the address, which is then proved.
 * https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code
 */
export const twitter: Provider = {
  displayName: 'X',
  authorizeUrl: 'https://x.com/i/oauth2/authorize',
  tokenUrl: 'https://api.x.com/2/oauth2/token',
  scopes: 'users.read users.email tweet.read',
  authentication: 'basic',
  pkce: 'always',
  async readClaims({ get }) {
    const { data } = await get(
      'https://api.x.com/2/users/me?user.fields=id,name,username,profile_image_url,confirmed_email',
    );
    const person = {
      name: memberOf(data, 'name'),
      username: memberOf(data, 'username'),
      avatarUrl: memberOf(data, 'profile_image_url'),
    };
    return { id: memberOf(data, 'id'), email: memberOf(data, 'confirmed_email'), verified: true, ...person };
  },
};
