import type { Provider } from '../provider.ts';

/**
 * A user's id is unique only in its workspace, so the identity combines both ids.
 * https://docs.slack.dev/authentication/sign-in-with-slack
 */
export const slack: Provider = {
  displayName: 'Slack',
  authorizeUrl: 'https://slack.com/openid/connect/authorize',
  tokenUrl: 'https://slack.com/api/openid.connect.token',
  scopes: 'openid profile email',
  authentication: 'form',
  pkce: 'offered',
  async readClaims({ get }) {
    const answer = await get('https://slack.com/api/openid.connect.userInfo');
    const team = answer['https://slack.com/team_id'];
    const user = answer['https://slack.com/user_id'] ?? answer.sub;
    const isComplete = typeof team === 'string' && typeof user === 'string' && user !== '';
    return {
      id: isComplete ? `${team}.${user}` : undefined,
      email: answer.email,
      verified: answer.email_verified,
      name: answer.name,
      avatarUrl: answer.picture,
    };
  },
};
