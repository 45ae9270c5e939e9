import { item, type Part, type Section, type SettingText } from './section.ts';

/** What a provider calls its parts, so that everyone knows what to paste where. */
interface Provider {
  readonly name: string;
  readonly title: string;
  readonly where: string;
  readonly id: string;
  readonly secret: string;
  readonly redirect: string;
  readonly more?: readonly SettingText[];
}

const provider = (
  name: string,
  title: string,
  where: string,
  [id, secret, redirect]: readonly [string, string, string],
  more: readonly SettingText[] = [],
): Provider => ({ name, title, where, id, secret, redirect, more });

const usual = ['Client ID', 'Client secret', 'Redirect URI'] as const;

const oidcMembers = (prefix: string, title: string): readonly SettingText[] => [
  item(
    `${prefix}.issuer`,
    `${title}: issuer`,
    'The address that the provider names. It is enough: the other addresses come from there.',
  ),
  item(`${prefix}.display_name`, `${title}: name`, 'What your app shows on the button.'),
  item(`${prefix}.scopes`, `${title}: scopes`, 'What to ask the provider for, separated by spaces.'),
  item(`${prefix}.authorization_url`, `${title}: sign-in address`, 'Only if the issuer has no discovery document.'),
  item(`${prefix}.token_url`, `${title}: token address`, 'Only if the issuer has no discovery document.'),
  item(`${prefix}.userinfo_url`, `${title}: profile address`, 'Only if the issuer has no discovery document.'),
];

const apple = [
  item('oauth2.apple.team_id', 'Apple: team ID', '10 characters, at the upper right of the developer account.'),
  item('oauth2.apple.key_id', 'Apple: key ID', 'The ID that Apple shows beside the key.'),
  item(
    'oauth2.apple.private_key',
    'Apple: private key',
    'Paste the whole .p8 file. Apple takes it in place of a client secret.',
  ),
];

const providers: readonly Provider[] = [
  provider(
    'google',
    'Google',
    'console.cloud.google.com: APIs & Services, Credentials, OAuth client ID, Web application',
    ['Client ID', 'Client secret', 'Authorized redirect URIs'],
  ),
  provider('github', 'GitHub', 'github.com: Settings, Developer settings, OAuth Apps', [
    'Client ID',
    'Client secret',
    'Authorization callback URL',
  ]),
  provider(
    'apple',
    'Apple',
    'developer.apple.com: Identifiers (a Services ID) and Keys',
    ['Services ID', 'Client secret', 'Return URLs'],
    apple,
  ),
  provider(
    'microsoft',
    'Microsoft',
    'entra.microsoft.com: App registrations, Web',
    ['Application (client) ID', 'Value of a client secret', 'Redirect URIs'],
    [
      item(
        'oauth2.microsoft.tenant',
        'Microsoft: tenant',
        'Whose users may sign in: a tenant ID or domain, or common for all.',
      ),
    ],
  ),
  provider('facebook', 'Facebook', 'developers.facebook.com: your app, App settings, Basic', [
    'App ID',
    'App secret',
    'Valid OAuth Redirect URIs',
  ]),
  provider(
    'gitlab',
    'GitLab',
    'gitlab.com: Preferences, Applications, with scope read_user',
    ['Application ID', 'Secret', 'Redirect URI'],
    [item('oauth2.gitlab.endpoint', 'GitLab: address', 'Of your own GitLab. Empty: gitlab.com.')],
  ),
  provider('discord', 'Discord', 'discord.com/developers: your application, OAuth2', [
    'Client ID',
    'Client Secret',
    'Redirects',
  ]),
  provider('linkedin', 'LinkedIn', 'linkedin.com/developers: your app, Auth', [
    'Client ID',
    'Primary Client Secret',
    'Authorized redirect URLs',
  ]),
  provider('slack', 'Slack', 'api.slack.com/apps: your app, Basic Information, and OAuth & Permissions', [
    'Client ID',
    'Client Secret',
    'Redirect URLs',
  ]),
  provider('twitter', 'X', 'developer.x.com: your app, User authentication settings', [
    'Client ID',
    'Client Secret',
    'Callback URI',
  ]),
  provider('twitch', 'Twitch', 'dev.twitch.tv/console: Applications', [
    'Client ID',
    'Client Secret',
    'OAuth Redirect URLs',
  ]),
  provider('spotify', 'Spotify', 'developer.spotify.com/dashboard: your app, Settings', [
    'Client ID',
    'Client secret',
    'Redirect URIs',
  ]),
  provider('bitbucket', 'Bitbucket', 'bitbucket.org: workspace settings, OAuth consumers', [
    'Key',
    'Secret',
    'Callback URL',
  ]),
  provider('notion', 'Notion', 'notion.so/my-integrations: a public integration', [
    'OAuth client ID',
    'OAuth client secret',
    'Redirect URIs',
  ]),
  provider('patreon', 'Patreon', 'patreon.com/portal: Clients & API Keys', [
    'Client ID',
    'Client Secret',
    'Redirect URIs',
  ]),
];

const partOf = ({ name, title, where, id, secret, redirect, more = [] }: Provider): Part => ({
  title,
  about: `Register an app at ${where}. There, enter your app's sign-in page as "${redirect}": exactly the redirectUri that your app sends.`,
  settings: credentials(`oauth2.${name}`, title, id, secret, more),
});

const credentials = (prefix: string, title: string, id: string, secret: string, more: readonly SettingText[]) => [
  item(`${prefix}.enabled`, `${title}: sign-in`, 'Works as soon as the settings below are complete.'),
  item(`${prefix}.client_id`, `${title}: client ID`, `Paste "${id}".`),
  item(
    `${prefix}.client_secret`,
    `${title}: client secret`,
    `Paste "${secret}". It is stored encrypted and never shown.`,
  ),
  ...more,
];

/** An OpenID provider with a name. A new name has no settings yet. */
export const oidcPart = (name: string): Part => {
  const prefix = `oauth2.providers.oidc.${name}`;
  return {
    title: name,
    about: `Requests name it oidc.${name}. Register an app at the provider, with your app's sign-in page as redirect URI.`,
    settings: credentials(prefix, name, usual[0], usual[1], oidcMembers(prefix, name)),
  };
};

export const providersSection: Section = {
  name: 'Providers',
  about: 'Sign-in with accounts at Google, GitHub and others.',
  parts: [
    ...providers.map(partOf),
    {
      title: 'OpenID Connect',
      about:
        "Any provider with OpenID Connect, such as Keycloak, Okta or Authentik. Register an app there, with your app's sign-in page as redirect URI.",
      settings: credentials('oauth2.oidc', 'OpenID', usual[0], usual[1], oidcMembers('oauth2.oidc', 'OpenID')),
    },
    {
      title: 'New accounts',
      settings: [
        item(
          'oauth2.verified_email.<collection>',
          'Take the address in <collection>',
          'A new account takes the address that the provider vouches for. Otherwise its address is made up.',
        ),
        item(
          'oauth2.profile.<collection>',
          'Take the profile in <collection>',
          'As JSON, which field takes what: {"nick": "username", "picture": "avatar_url"}.',
          { kind: 'long' },
        ),
      ],
    },
  ],
};
