import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/** The API wants the client's id beside the token. An address that it shows is a proved one. https://dev.twitch.tv/docs/api/reference/#get-users */
export const twitch: Provider = {
  displayName: 'Twitch',
  authorizeUrl: 'https://id.twitch.tv/oauth2/authorize',
  tokenUrl: 'https://id.twitch.tv/oauth2/token',
  scopes: 'user:read:email',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ clientId, get }) {
    const answer = await get('https://api.twitch.tv/helix/users', [['Client-Id', clientId]]);
    return { id: memberOf(answer, 'data', 0, 'id'), email: memberOf(answer, 'data', 0, 'email'), verified: true };
  },
};
