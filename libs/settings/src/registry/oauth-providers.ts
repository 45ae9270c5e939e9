import { z } from 'zod';
import { type Setting, setting, settingGroup, unsetSetting } from './setting.ts';
import { flag, httpUrl, line, opaque, privateKeyPem } from './text-schemas.ts';

/** Every OAuth2 provider that has a client id and secret of its own; `oidc` is the connector to any other. */
export const oauthProviderNames = [
  'google',
  'github',
  'gitlab',
  'facebook',
  'microsoft',
  'discord',
  'twitch',
  'spotify',
  'linkedin',
  'slack',
  'bitbucket',
  'notion',
  'patreon',
  'apple',
  'twitter',
  'oidc',
] as const;

export type OauthProviderName = (typeof oauthProviderNames)[number];

type ProviderSettings = Record<`oauth2.${OauthProviderName}.enabled`, Setting<boolean>> &
  Record<`oauth2.${OauthProviderName}.${'client_id' | 'client_secret'}`, Setting<string>>;

/** The three keys that all of them have (interface §2.7, OAuth2 providers). */
const ofEveryProvider = Object.fromEntries(
  oauthProviderNames.flatMap((name): [string, Setting<unknown>][] => [
    [`oauth2.${name}.enabled`, setting(flag, '0', `Sign in by ${name}.`)],
    [`oauth2.${name}.client_id`, unsetSetting(opaque, '', `Client id at ${name}.`)],
    [`oauth2.${name}.client_secret`, unsetSetting(opaque, '', `Client secret at ${name}.`)],
  ]),
) as ProviderSettings;

/** A team id has ten characters (interface §2.7); how long a key id is, nobody promises. */
const teamId = z.string().regex(/^[A-Za-z0-9]{10}$/, 'must be 10 letters and digits');
const keyId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters and digits');

/** A tenant's id or one of its domains. */
const tenant = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/, 'must be a tenant id or domain');

/** Scope tokens (RFC 6749 §3.3). */
const scopes = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*$/, 'must be scopes separated by spaces');

export const oauthProviders = settingGroup('OAuth2 providers', ['auth'], {
  ...ofEveryProvider,
  'oauth2.gitlab.endpoint': unsetSetting(httpUrl, '', 'Base URL of your own GitLab; empty means gitlab.com.'),
  'oauth2.microsoft.tenant': setting(tenant, 'common', 'Tenant whose users may sign in; common means all of them.'),
  'oauth2.apple.team_id': unsetSetting(teamId, '', 'Team id at Apple, 10 characters.'),
  'oauth2.apple.key_id': unsetSetting(keyId, '', 'Id of the private key at Apple.'),
  'oauth2.apple.private_key': unsetSetting(
    privateKeyPem,
    '',
    'Private key (PEM) by which the client secret is signed; apple needs this in place of client_secret.',
  ),
  'oauth2.oidc.authorization_url': unsetSetting(httpUrl, '', 'Authorization endpoint.'),
  'oauth2.oidc.token_url': unsetSetting(httpUrl, '', 'Token endpoint.'),
  'oauth2.oidc.userinfo_url': unsetSetting(httpUrl, '', 'Userinfo endpoint.'),
  'oauth2.oidc.scopes': setting(scopes, 'openid profile email', 'Scopes to ask for, separated by spaces.'),
  'oauth2.oidc.display_name': unsetSetting(line(100), '', 'Label in the list of providers.'),
});
