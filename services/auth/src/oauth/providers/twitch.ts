import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/** The API needs the client's id beside the token. It shows only proved addresses. https://dev.twitch.tv/docs/api/reference/#get-users */
export const twitch: Provider = {
  displayName: 'Twitch',
  authorizeUrl: 'https://id.twitch.tv/oauth2/authorize',
  tokenUrl: 'https://id.twitch.tv/oauth2/token',
  scopes: 'user:read:email',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ clientId, get }) {
    const answer = await get('https://api.twitch.tv/helix/users', [['Client-Id', clientId]]);
    const said = (name: string) => memberOf(answer, 'data', 0, name);
    const person = { name: said('display_name'), username: said('login'), avatarUrl: said('profile_image_url') };
    return { id: said('id'), email: said('email'), verified: true, ...person };
  },
};
