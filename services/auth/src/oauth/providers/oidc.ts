import type { Settings } from '@recordbus/settings';
import type { Discover, Endpoints } from '../discovery.ts';
import type { Provider } from '../provider.ts';

/** An OpenID provider's settings. */
interface OidcSettings extends Endpoints {
  /** Empty when the three addresses are set. */
  readonly issuer: string;
  readonly scopes: string;
  readonly displayName: string;
}

/** Any OpenID Connect provider (Core 1.0 §5.3). Addresses in the settings win over discovered ones (oauth §1.4). */
export function oidc(settings: OidcSettings, discover: Discover): Provider {
  const { issuer, scopes, displayName, authorizeUrl, tokenUrl, userinfoUrl } = settings;
  const hasAll = [authorizeUrl, tokenUrl, userinfoUrl].every((url) => url !== '');
  return {
    displayName,
    authorizeUrl,
    tokenUrl,
    scopes,
    ...(issuer && { issuer }),
    authentication: 'basic_or_form',
    pkce: 'offered',
    isComplete: hasAll || issuer !== '',
    ...(!hasAll && {
      discover: async () => {
        const found = await discover(issuer);
        const endpoints = {
          authorizeUrl: authorizeUrl || found.authorizeUrl,
          tokenUrl: tokenUrl || found.tokenUrl,
          userinfoUrl: userinfoUrl || found.userinfoUrl,
        };
        return oidc({ ...settings, ...endpoints }, discover);
      },
    }),
    async readClaims({ get }) {
      const { sub, email, email_verified, name, preferred_username, picture } = await get(userinfoUrl);
      return { id: sub, email, verified: email_verified, name, username: preferred_username, avatarUrl: picture };
    },
  };
}

/** The provider `oidc`. */
export const oidcOfSettings = (settings: Pick<Settings, 'get'>, discover: Discover): Provider =>
  oidc(
    {
      issuer: settings.get('oauth2.oidc.issuer'),
      displayName: settings.get('oauth2.oidc.display_name') || 'OpenID Connect',
      authorizeUrl: settings.get('oauth2.oidc.authorization_url'),
      tokenUrl: settings.get('oauth2.oidc.token_url'),
      userinfoUrl: settings.get('oauth2.oidc.userinfo_url'),
      scopes: settings.get('oauth2.oidc.scopes'),
    },
    discover,
  );

/** The provider `oidc.<name>`. */
export const namedOidc = (settings: Pick<Settings, 'getNamed'>, name: string, discover: Discover): Provider =>
  oidc(
    {
      issuer: settings.getNamed('oauth2.providers.oidc.<name>.issuer', name),
      displayName: settings.getNamed('oauth2.providers.oidc.<name>.display_name', name) || name,
      authorizeUrl: settings.getNamed('oauth2.providers.oidc.<name>.authorization_url', name),
      tokenUrl: settings.getNamed('oauth2.providers.oidc.<name>.token_url', name),
      userinfoUrl: settings.getNamed('oauth2.providers.oidc.<name>.userinfo_url', name),
      scopes: settings.getNamed('oauth2.providers.oidc.<name>.scopes', name),
    },
    discover,
  );
