import { createHmac } from 'node:crypto';
import type { Provider } from '../provider.ts';
import { memberOf } from '../provider-http.ts';

/**
 * Facebook does not say whether an address is proved, so none counts as proved. Some apps require `appsecret_proof`.
 * https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow
 */
export const facebook: Provider = {
  displayName: 'Facebook',
  authorizeUrl: 'https://www.facebook.com/dialog/oauth',
  tokenUrl: 'https://graph.facebook.com/oauth/access_token',
  scopes: 'email public_profile',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ accessToken, clientSecret, get }) {
    const proof = createHmac('sha256', clientSecret).update(accessToken).digest('hex');
    const { id, email, name, picture } = await get(
      `https://graph.facebook.com/me?fields=id,email,name,picture.type(large)&appsecret_proof=${proof}`,
    );
    return { id, email, name, avatarUrl: memberOf(picture, 'data', 'url') };
  },
};
