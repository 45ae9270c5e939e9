import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/**
 * The API needs the client's id in addition to the token. It shows only proved addresses.
 * https://dev.twitch.tv/docs/api/reference/#get-users
 */
export const twitch: Provider = {
  displayName: 'Twitch',
  authorizeUrl: 'https://id.twitch.tv/oauth2/authorize',
  tokenUrl: 'https://id.twitch.tv/oauth2/token',
  scopes: 'user:read:email',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ clientId, get }) {
    const answer = await get('https://api.twitch.tv/helix/users', [['Client-Id', clientId]]);
    const claim = (name: string) => memberOf(answer, 'data', 0, name);
    const person = { name: claim('display_name'), username: claim('login'), avatarUrl: claim('profile_image_url') };
    return { id: claim('id'), email: claim('email'), verified: true, ...person };
  },
};
