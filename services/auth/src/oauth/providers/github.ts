import type { Provider } from '../provider.ts';
import { type Json, memberOf } from '../provider-http.ts';

/**
 * The address of a profile may be hidden, and is nobody's word: the one that counts is the primary among those that are
 * proved (interface §5, OAuth2). Without the right to read them there is none.
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
    const { id } = await get('https://api.github.com/user');
    const primary = listOf(await find('https://api.github.com/user/emails')).find(
      (row) => memberOf(row, 'primary') === true,
    );
    return { id, email: memberOf(primary, 'email'), verified: memberOf(primary, 'verified') };
  },
};

const listOf = (answer: Json | undefined): readonly unknown[] => (Array.isArray(answer) ? answer : []);
