import type { Provider } from '../provider.ts';

/** https://developers.google.com/identity/openid-connect/openid-connect */
export const google: Provider = {
  displayName: 'Google',
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  scopes: 'openid email profile',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ get }) {
    const { sub, email, email_verified, name, picture } = await get('https://openidconnect.googleapis.com/v1/userinfo');
    return { id: sub, email, verified: email_verified, name, avatarUrl: picture };
  },
};
