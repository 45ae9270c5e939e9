import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/**
 * The token endpoint's answer has the profile. It does not say whether an address is proved.
 * https://developers.notion.com/reference/create-a-token
 */
export const notion: Provider = {
  displayName: 'Notion',
  authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
  tokenUrl: 'https://api.notion.com/v1/oauth/token',
  scopes: '',
  authorizeParameters: { owner: 'user' },
  authentication: 'basic_json',
  pkce: 'offered',
  async readClaims({ tokens }) {
    return {
      id: memberOf(tokens, 'owner', 'user', 'id'),
      email: memberOf(tokens, 'owner', 'user', 'person', 'email'),
      name: memberOf(tokens, 'owner', 'user', 'name'),
      avatarUrl: memberOf(tokens, 'owner', 'user', 'avatar_url'),
    };
  },
};
