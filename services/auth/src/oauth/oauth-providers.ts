import type { EgressClient } from '@recordbus/egress';
import type { Logger } from '@recordbus/process/logging';
import { type OauthProviderName, oauthProviderNames, type Settings } from '@recordbus/settings';
import { type Authorization, composeAuthorizeUrl } from './authorize-url.ts';
import { createDiscovery } from './discovery.ts';
import { exchangeCode, type Grant } from './exchange-code.ts';
import { type Identity, readIdentity } from './identity.ts';
import type { Provider, ProviderName } from './provider.ts';
import { providerNotEnabled } from './provider-errors.ts';
import { createProviderHttp } from './provider-http.ts';
import { createProviderTable } from './providers/index.ts';
import { namedOidc } from './providers/oidc.ts';

/** An enabled provider. */
export interface EnabledProvider extends Pick<Provider, 'displayName' | 'pkce'> {
  readonly name: ProviderName;
  /** Returns the URL at which the browser signs in. Throws 502 when discovery fails. */
  authorizeUrl(authorization: Authorization): Promise<string>;
  /** Returns the identity behind a code. Throws 422 when the provider refuses, 502 when it fails. */
  identify(grant: Grant): Promise<Identity>;
}

/** The providers in the current settings. */
export interface OauthProviders {
  /** Lists the enabled providers in table order (oauth §1.3). */
  list(): Promise<readonly EnabledProvider[]>;
  /** Throws 422 for a provider that is unknown or not enabled (oauth §1.2). */
  get(name: string): Promise<EnabledProvider>;
  /** The issuer to which the settings bind a provider's links (oauth §6.1); undefined without one. It may be off. */
  issuerOf(name: string): Promise<string | undefined>;
}

interface OauthDeps {
  readonly settings: Pick<Settings, 'get' | 'getNamed' | 'namesOf' | 'refresh'>;
  readonly client: Pick<EgressClient, 'request'>;
  readonly log: Logger;
  readonly nowSec: () => number;
}

interface Credentials {
  /** Whether it is switched on and its secrets are set. */
  readonly isEnabled: boolean;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The prefix for named OpenID providers, so that none has a name from the table (oauth §1.4). */
const namedPrefix = 'oidc.';
const enabledFamily = 'oauth2.providers.oidc.<name>.enabled';

/** Creates the providers. Each call reads the settings again, so that a new provider works at once. */
export function createOauthProviders({ settings, client, log, nowSec }: OauthDeps): OauthProviders {
  const http = createProviderHttp(client, log);
  const discover = createDiscovery({ http, log, nowSec });
  const table = createProviderTable({ settings, http, discover, log, nowSec });

  const findInTable = (name: OauthProviderName): EnabledProvider | undefined => {
    const provider = table[name]();
    const { needs = [`oauth2.${name}.client_secret`] } = provider;
    return enabled(name, provider, {
      isEnabled: settings.get(`oauth2.${name}.enabled`) && needs.every((key) => settings.get(key) !== ''),
      clientId: settings.get(`oauth2.${name}.client_id`),
      clientSecret: settings.get(`oauth2.${name}.client_secret`),
    });
  };

  const findNamed = (name: string): EnabledProvider | undefined => {
    const clientSecret = settings.getNamed('oauth2.providers.oidc.<name>.client_secret', name);
    return enabled(`oidc.${name}`, namedOidc(settings, name, discover), {
      isEnabled: settings.getNamed('oauth2.providers.oidc.<name>.enabled', name) && clientSecret !== '',
      clientId: settings.getNamed('oauth2.providers.oidc.<name>.client_id', name),
      clientSecret,
    });
  };

  const findIssuer = (name: string): string | undefined => {
    const known = oauthProviderNames.find((one) => one === name);
    const own = name.startsWith(namedPrefix) ? name.slice(namedPrefix.length) : '';
    const isNamed = settings.namesOf(enabledFamily).includes(own);
    const provider = known ? table[known]() : isNamed ? namedOidc(settings, own, discover) : undefined;
    return (provider && (provider.issuer ?? provider.tokenUrl)) || undefined;
  };

  function enabled(name: ProviderName, provider: Provider, credentials: Credentials): EnabledProvider | undefined {
    const { isEnabled, clientId, clientSecret } = credentials;
    if (!isEnabled || clientId === '' || provider.isComplete === false) return undefined;
    const getSecret = provider.signSecret ?? (async () => clientSecret);
    const discovered = async () => provider.discover?.() ?? provider;
    return {
      name,
      displayName: provider.displayName,
      pkce: provider.pkce,
      authorizeUrl: async (authorization) => composeAuthorizeUrl(await discovered(), clientId, authorization),
      async identify(grant) {
        const whole = await discovered();
        const source = await exchangeCode({ http, provider: whole, clientId, clientSecret: await getSecret() }, grant);
        const issuer = whole.issuer ?? whole.tokenUrl;
        return readIdentity({ provider: name, issuer }, await whole.readClaims(source));
      },
    };
  }

  return {
    async issuerOf(name) {
      await settings.refresh();
      return findIssuer(name);
    },
    async list() {
      await settings.refresh();
      const named = settings.namesOf(enabledFamily).map(findNamed);
      return [...oauthProviderNames.map(findInTable), ...named].filter((provider) => provider !== undefined);
    },
    async get(name) {
      await settings.refresh();
      const known = oauthProviderNames.find((one) => one === name);
      const own = name.startsWith(namedPrefix) ? name.slice(namedPrefix.length) : '';
      const provider = known ? findInTable(known) : settings.namesOf(enabledFamily).includes(own) && findNamed(own);
      if (!provider) throw providerNotEnabled();
      return provider;
    },
  };
}
