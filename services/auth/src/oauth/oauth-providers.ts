import type { EgressClient } from '@recordbus/egress';
import { type OauthProviderName, oauthProviderNames, type Settings } from '@recordbus/settings';
import type { Logger } from '@recordbus/shared/logging';
import { type Authorization, composeAuthorizeUrl } from './authorize-url.ts';
import { exchangeCode, type Grant } from './exchange-code.ts';
import { type Identity, readIdentity } from './identity.ts';
import type { Provider } from './provider.ts';
import { providerNotEnabled } from './provider-errors.ts';
import { createProviderHttp } from './provider-http.ts';
import { createProviderTable } from './providers/index.ts';

/** A provider that is enabled, as a flow needs it. */
export interface EnabledProvider extends Pick<Provider, 'displayName' | 'pkce'> {
  readonly name: OauthProviderName;
  /** Where the browser goes to sign in. */
  authorizeUrl(authorization: Authorization): string;
  /** Who it is that came back with a code. Throws 422 when the provider refuses, 502 when it fails. */
  identify(grant: Grant): Promise<Identity>;
}

/** The providers of the settings, as they count now. */
export interface OauthProviders {
  /** Those that are enabled, in the order of the table. */
  list(): Promise<readonly EnabledProvider[]>;
  /** Throws 422 for a provider that is not enabled, or not known. */
  get(name: string): Promise<EnabledProvider>;
}

interface OauthDeps {
  readonly settings: Pick<Settings, 'get' | 'refresh'>;
  readonly client: Pick<EgressClient, 'request'>;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Makes the providers; whoever set one up finds it at once. */
export function createOauthProviders({ settings, client, log, nowSec }: OauthDeps): OauthProviders {
  const http = createProviderHttp(client, log);
  const table = createProviderTable({ settings, http, log, nowSec });

  function find(name: OauthProviderName): EnabledProvider | undefined {
    const provider = table[name]();
    const { needs = [`oauth2.${name}.client_secret`] } = provider;
    const clientId = settings.get(`oauth2.${name}.client_id`);
    const isWhole = [clientId, ...needs.map((key) => settings.get(key))].every((value) => value !== '');
    if (!settings.get(`oauth2.${name}.enabled`) || !isWhole) return undefined;
    const getSecret = provider.signSecret ?? (async () => settings.get(`oauth2.${name}.client_secret`));
    return {
      name,
      displayName: provider.displayName,
      pkce: provider.pkce,
      authorizeUrl: (authorization) => composeAuthorizeUrl(provider, clientId, authorization),
      identify: async (grant) => {
        const source = await exchangeCode({ http, provider, clientId, clientSecret: await getSecret() }, grant);
        return readIdentity(name, await provider.readClaims(source));
      },
    };
  }

  return {
    async list() {
      await settings.refresh();
      return oauthProviderNames.map(find).filter((provider) => provider !== undefined);
    },
    async get(name) {
      await settings.refresh();
      const known = oauthProviderNames.find((one) => one === name);
      const provider = known && find(known);
      if (!provider) throw providerNotEnabled();
      return provider;
    },
  };
}
