import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/**
 * The answer of the token endpoint says whose token it is. Nothing says whether an address was proved.
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
    };
  },
};
