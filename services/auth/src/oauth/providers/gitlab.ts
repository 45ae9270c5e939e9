import type { Settings } from '@recordbus/settings';
import { withoutTrailingSlashes } from '@recordbus/text/base-url';
import type { Provider } from '../provider.ts';

/** gitlab.com or a self-managed GitLab. https://docs.gitlab.com/api/oauth2/ */
export function gitlab(settings: Pick<Settings, 'get'>): Provider {
  const base = withoutTrailingSlashes(settings.get('oauth2.gitlab.endpoint') || 'https://gitlab.com');
  return {
    displayName: 'GitLab',
    authorizeUrl: `${base}/oauth/authorize`,
    tokenUrl: `${base}/oauth/token`,
    scopes: 'read_user',
    authentication: 'form',
    pkce: 'offered',
    async readClaims({ get }) {
      const { id, email, confirmed_at, name, username, avatar_url: avatarUrl } = await get(`${base}/api/v4/user`);
      const verified = typeof confirmed_at === 'string' && confirmed_at !== '';
      return { id, email, verified, name, username, avatarUrl };
    },
  };
}
