import type { Provider } from '../provider.ts';

/** https://docs.discord.com/developers/topics/oauth2 */
export const discord: Provider = {
  displayName: 'Discord',
  authorizeUrl: 'https://discord.com/oauth2/authorize',
  tokenUrl: 'https://discord.com/api/oauth2/token',
  scopes: 'identify email',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ get }) {
    const { id, email, verified, username, global_name: name } = await get('https://discord.com/api/users/@me');
    return { id, email, verified, name, username };
  },
};
