import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

const fields = 'email,full_name,image_url,is_email_verified,vanity';

/** https://docs.patreon.com/#oauth */
export const patreon: Provider = {
  displayName: 'Patreon',
  authorizeUrl: 'https://www.patreon.com/oauth2/authorize',
  tokenUrl: 'https://www.patreon.com/api/oauth2/token',
  scopes: 'identity identity[email]',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ get }) {
    const { data } = await get(`https://www.patreon.com/api/oauth2/v2/identity?fields%5Buser%5D=${fields}`);
    return {
      id: memberOf(data, 'id'),
      email: memberOf(data, 'attributes', 'email'),
      verified: memberOf(data, 'attributes', 'is_email_verified'),
      name: memberOf(data, 'attributes', 'full_name'),
      username: memberOf(data, 'attributes', 'vanity'),
      avatarUrl: memberOf(data, 'attributes', 'image_url'),
    };
  },
};
