import type { StoredProvider } from './definition.ts';

/** A sign-in provider in this product's settings. */
export interface ProviderHere {
  readonly name: string;
  /** The start of its settings' names. */
  readonly prefix: string;
  /** Settings that name the issuer: a link is good for one issuer only. */
  readonly issuer: Readonly<Record<string, string>>;
  /** The other settings. Never secrets. */
  readonly others: Readonly<Record<string, string>>;
}

/** Providers with the same ids for users in both products. */
const same: ReadonlySet<string> = new Set(
  'apple bitbucket discord facebook github gitlab google microsoft notion patreon spotify twitch twitter'.split(' '),
);

/** Translates a provider. Undefined for one that this product lacks, and for an OpenID provider without addresses. */
export function translateProvider(given: StoredProvider): ProviderHere | undefined {
  const { name, clientId = '', tokenURL = '', authURL = '', userInfoURL = '', displayName = '' } = given;
  const others: ProviderHere['others'] = clientId === '' ? {} : { enabled: '1', client_id: clientId };
  if (/^oidc\d?$/.test(name)) {
    if (tokenURL === '') return undefined;
    const isFirst = name === 'oidc';
    return {
      name: isFirst ? name : `oidc.${name}`,
      prefix: isFirst ? 'oauth2.oidc.' : `oauth2.providers.oidc.${name}.`,
      issuer: { issuer: '', token_url: tokenURL },
      others: { ...others, authorization_url: authURL, userinfo_url: userInfoURL, display_name: displayName },
    };
  }
  const issuer = same.has(name) ? issuerOf(name, tokenURL) : undefined;
  return issuer && { name, prefix: `oauth2.${name}.`, issuer, others };
}

/** Undefined for an address that cannot be set here. */
function issuerOf(name: string, tokenURL: string): Readonly<Record<string, string>> | undefined {
  if (name === 'gitlab') {
    const base = tokenURL === '' ? 'https://gitlab.com' : /^(https?:\/\/.+)\/oauth\/token$/.exec(tokenURL)?.[1];
    return base === undefined ? undefined : { endpoint: base === 'https://gitlab.com' ? '' : base };
  }
  if (name !== 'microsoft') return {};
  const tenant =
    tokenURL === ''
      ? 'common'
      : /^https:\/\/login\.microsoftonline\.com\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(tokenURL)?.[1];
  return tenant === undefined ? undefined : { tenant };
}
