import { createHmac } from 'node:crypto';
import type { Provider } from '../provider.ts';

/**
 * Nothing says whether an address was proved, so none counts. The proof by the app secret is for apps that demand it.
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
    const { id, email } = await get(`https://graph.facebook.com/me?fields=id,email&appsecret_proof=${proof}`);
    return { id, email };
  },
};
