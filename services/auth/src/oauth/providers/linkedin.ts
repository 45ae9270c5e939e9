import type { Provider } from '../provider.ts';

/**
 * LinkedIn refuses requests with a PKCE verifier, even a right one.
 * https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
 */
export const linkedin: Provider = {
  displayName: 'LinkedIn',
  authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
  tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
  scopes: 'openid profile email',
  authentication: 'form',
  pkce: 'never',
  async readClaims({ get }) {
    const { sub, email, email_verified, name, picture } = await get('https://api.linkedin.com/v2/userinfo');
    // LinkedIn sends it as a text too.
    return { id: sub, email, verified: email_verified === 'true' || email_verified, name, avatarUrl: picture };
  },
};
