import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/** Spotify documents that its addresses are unproved. https://developer.spotify.com/documentation/web-api/reference/get-current-users-profile */
export const spotify: Provider = {
  displayName: 'Spotify',
  authorizeUrl: 'https://accounts.spotify.com/authorize',
  tokenUrl: 'https://accounts.spotify.com/api/token',
  scopes: 'user-read-email',
  authentication: 'basic',
  pkce: 'offered',
  async readClaims({ get }) {
    const { id, email, display_name: name, images } = await get('https://api.spotify.com/v1/me');
    return { id, email, name, avatarUrl: memberOf(images, 0, 'url') };
  },
};
