import type { Settings } from '@recordbus/settings';
import type { Provider } from '../provider.ts';

/** Any provider that speaks OpenID Connect (Core 1.0 §5.3), at the URLs of the settings. */
export const oidc = (settings: Pick<Settings, 'get'>): Provider => ({
  displayName: settings.get('oauth2.oidc.display_name') || 'OpenID Connect',
  authorizeUrl: settings.get('oauth2.oidc.authorization_url'),
  tokenUrl: settings.get('oauth2.oidc.token_url'),
  scopes: settings.get('oauth2.oidc.scopes'),
  authentication: 'basic_or_form',
  pkce: 'offered',
  needs: [
    'oauth2.oidc.client_secret',
    'oauth2.oidc.authorization_url',
    'oauth2.oidc.token_url',
    'oauth2.oidc.userinfo_url',
  ],
  async readClaims({ get }) {
    const { sub, email, email_verified } = await get(settings.get('oauth2.oidc.userinfo_url'));
    return { id: sub, email, verified: email_verified };
  },
});
