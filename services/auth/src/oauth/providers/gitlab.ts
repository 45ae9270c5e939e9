import type { Settings } from '@recordbus/settings';
import type { Provider } from '../provider.ts';

/** gitlab.com, or a GitLab of one's own. https://docs.gitlab.com/api/oauth2/ */
export function gitlab(settings: Pick<Settings, 'get'>): Provider {
  const base = (settings.get('oauth2.gitlab.endpoint') || 'https://gitlab.com').replace(/\/+$/, '');
  return {
    displayName: 'GitLab',
    authorizeUrl: `${base}/oauth/authorize`,
    tokenUrl: `${base}/oauth/token`,
    scopes: 'read_user',
    authentication: 'form',
    pkce: 'offered',
    async readClaims({ get }) {
      const { id, email, confirmed_at } = await get(`${base}/api/v4/user`);
      return { id, email, verified: typeof confirmed_at === 'string' && confirmed_at !== '' };
    },
  };
}
