import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { type Setting, setting, settingGroup, unsetSetting } from './setting.ts';
import { clientCredential, flag, httpUrl, line, privateKeyPem } from './text-schemas.ts';

/** The OAuth2 providers with their own settings; `oidc` connects to any other (oauth §1.1). */
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

/** Every provider's three settings (oauth §1.2). */
const commonSettings = Object.fromEntries(
  oauthProviderNames.flatMap((name): [string, Setting<unknown>][] => [
    [`oauth2.${name}.enabled`, setting(flag, '0', `Sign-in with ${name}.`)],
    [`oauth2.${name}.client_id`, unsetSetting(clientCredential, '', `Client id at ${name}.`)],
    [`oauth2.${name}.client_secret`, unsetSetting(clientCredential, '', `Client secret at ${name}.`)],
  ]),
) as ProviderSettings;

/** A team id has ten characters (oauth §1.1). Apple does not document a key id's length. */
const teamId = z.string().regex(/^[A-Za-z0-9]{10}$/, 'must be 10 letters and digits');
const keyId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters and digits');

/** A tenant's id or one of its domains. */
const tenant = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/, 'must be a tenant id or domain');

/** Scope tokens (RFC 6749 §3.3). */
const scopes = boundedText(2048).regex(
  /^[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*$/,
  'must be scopes separated by spaces',
);

const oidcMembers = {
  issuer: unsetSetting(httpUrl, '', 'Issuer, whose discovery document provides endpoints that are not set.'),
  authorization_url: unsetSetting(httpUrl, '', 'Authorization endpoint.'),
  token_url: unsetSetting(httpUrl, '', 'Token endpoint.'),
  userinfo_url: unsetSetting(httpUrl, '', 'Userinfo endpoint.'),
  scopes: setting(scopes, 'openid profile email', 'Scopes to request, separated by spaces.'),
  display_name: unsetSetting(line(100), '', 'Label in the provider list.'),
} as const;

/** OpenID providers other than `oidc`, named `oidc.<name>` (oauth §1.4). */
export const oidcProviderFamilies = {
  'oauth2.providers.oidc.<name>.enabled': setting(flag, '0', 'Sign-in with this OpenID provider.'),
  'oauth2.providers.oidc.<name>.client_id': unsetSetting(clientCredential, '', 'Client id at this provider.'),
  'oauth2.providers.oidc.<name>.client_secret': unsetSetting(clientCredential, '', 'Client secret at this provider.'),
  'oauth2.providers.oidc.<name>.issuer': oidcMembers.issuer,
  'oauth2.providers.oidc.<name>.authorization_url': oidcMembers.authorization_url,
  'oauth2.providers.oidc.<name>.token_url': oidcMembers.token_url,
  'oauth2.providers.oidc.<name>.userinfo_url': oidcMembers.userinfo_url,
  'oauth2.providers.oidc.<name>.scopes': oidcMembers.scopes,
  'oauth2.providers.oidc.<name>.display_name': oidcMembers.display_name,
} as const;

export const oauthProviders = settingGroup(
  'OAuth2 providers',
  ['auth'],
  {
    ...commonSettings,
    'oauth2.gitlab.endpoint': unsetSetting(httpUrl, '', 'Base URL for your own GitLab; empty means gitlab.com.'),
    'oauth2.microsoft.tenant': setting(tenant, 'common', 'Tenant whose users may sign in; common means all tenants.'),
    'oauth2.apple.team_id': unsetSetting(teamId, '', 'Team id at Apple, 10 characters.'),
    'oauth2.apple.key_id': unsetSetting(keyId, '', 'Id that Apple gave the private key.'),
    'oauth2.apple.private_key': unsetSetting(
      privateKeyPem,
      '',
      'Private key (PEM) that signs the client secret; apple needs it in place of client_secret.',
    ),
    'oauth2.oidc.issuer': oidcMembers.issuer,
    'oauth2.oidc.authorization_url': oidcMembers.authorization_url,
    'oauth2.oidc.token_url': oidcMembers.token_url,
    'oauth2.oidc.userinfo_url': oidcMembers.userinfo_url,
    'oauth2.oidc.scopes': oidcMembers.scopes,
    'oauth2.oidc.display_name': oidcMembers.display_name,
  },
  oidcProviderFamilies,
);
