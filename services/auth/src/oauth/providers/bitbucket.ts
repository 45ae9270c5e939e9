import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/** Addresses are listed apart from the profile. https://developer.atlassian.com/cloud/bitbucket/oauth-2/ */
export const bitbucket: Provider = {
  displayName: 'Bitbucket',
  authorizeUrl: 'https://bitbucket.org/site/oauth2/authorize',
  tokenUrl: 'https://bitbucket.org/site/oauth2/access_token',
  scopes: 'account email',
  authentication: 'basic',
  pkce: 'offered',
  async readClaims({ get, find }) {
    const { uuid } = await get('https://api.bitbucket.org/2.0/user');
    const listed = memberOf(await find('https://api.bitbucket.org/2.0/user/emails'), 'values');
    const rows: readonly unknown[] = Array.isArray(listed) ? listed : [];
    const primary = rows.find((row) => memberOf(row, 'is_primary') === true);
    return { id: uuid, email: memberOf(primary, 'email'), verified: memberOf(primary, 'is_confirmed') };
  },
};
