import type { Provider } from '../provider.ts';
import { type Json, memberOf } from '../provider-http.ts';

/**
 * The profile's address may be hidden and is unproved, so the verified primary address counts (oauth §1.1). Without the
 * permission to read addresses, the user has no address.
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
export const github: Provider = {
  displayName: 'GitHub',
  authorizeUrl: 'https://github.com/login/oauth/authorize',
  tokenUrl: 'https://github.com/login/oauth/access_token',
  scopes: 'read:user user:email',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ get, find }) {
    const { id, name, login, avatar_url: avatarUrl } = await get('https://api.github.com/user');
    const primary = listOf(await find('https://api.github.com/user/emails')).find(
      (row) => memberOf(row, 'primary') === true,
    );
    const address = { email: memberOf(primary, 'email'), verified: memberOf(primary, 'verified') };
    return { id, ...address, name, username: login, avatarUrl };
  },
};

const listOf = (answer: Json | undefined): readonly unknown[] => (Array.isArray(answer) ? answer : []);
