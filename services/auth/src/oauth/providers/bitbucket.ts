import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/** Addresses have their own endpoint. https://developer.atlassian.com/cloud/bitbucket/oauth-2/ */
export const bitbucket: Provider = {
  displayName: 'Bitbucket',
  authorizeUrl: 'https://bitbucket.org/site/oauth2/authorize',
  tokenUrl: 'https://bitbucket.org/site/oauth2/access_token',
  scopes: 'account email',
  authentication: 'basic',
  pkce: 'offered',
  async readClaims({ get, find }) {
    const { uuid, display_name: name, username, links } = await get('https://api.bitbucket.org/2.0/user');
    const listed = memberOf(await find('https://api.bitbucket.org/2.0/user/emails'), 'values');
    const rows: readonly unknown[] = Array.isArray(listed) ? listed : [];
    const primary = rows.find((row) => memberOf(row, 'is_primary') === true);
    const address = { email: memberOf(primary, 'email'), verified: memberOf(primary, 'is_confirmed') };
    return { id: uuid, ...address, name, username, avatarUrl: memberOf(links, 'avatar', 'href') };
  },
};
