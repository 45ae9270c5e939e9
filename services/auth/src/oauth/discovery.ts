import type { Logger } from '@recordbus/process/logging';
import { misconfigured, providerFailed } from './provider-errors.ts';
import type { ProviderHttp } from './provider-http.ts';

/** An OpenID provider's addresses. */
export interface Endpoints {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly userinfoUrl: string;
}

/** Returns the addresses that an issuer publishes. Throws 502 without them, 422 when the document names another issuer. */
export type Discover = (issuer: string) => Promise<Endpoints>;

const lifetimeSec = 3600;
const wellKnown = '/.well-known/openid-configuration';

interface DiscoveryDeps {
  readonly http: ProviderHttp;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Creates the function; it caches a document for an hour (oauth §1.4, OpenID Connect Discovery 1.0 §4). */
export function createDiscovery({ http, log, nowSec }: DiscoveryDeps): Discover {
  const known = new Map<string, { readonly endpoints: Endpoints; readonly fetchedAtSec: number }>();
  return async (issuer) => {
    const cached = known.get(issuer);
    if (cached && nowSec() - cached.fetchedAtSec < lifetimeSec) return cached.endpoints;
    const base = issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
    const { status, json } = await http(base + wellKnown, { method: 'GET' });
    if (status >= 400 || !json) throw providerFailed();
    // Another issuer could speak for this one's users (OpenID Connect Discovery 1.0 §4.3).
    if (json.issuer !== issuer) {
      log.warn({ issuer }, "an OpenID provider's discovery document names another issuer");
      throw misconfigured();
    }
    const endpoints = {
      authorizeUrl: addressIn(json.authorization_endpoint),
      tokenUrl: addressIn(json.token_endpoint),
      userinfoUrl: addressIn(json.userinfo_endpoint),
    };
    known.set(issuer, { endpoints, fetchedAtSec: nowSec() });
    return endpoints;
  };
}

function addressIn(value: unknown): string {
  const protocol = typeof value === 'string' && value.length <= 2048 ? URL.parse(value)?.protocol : undefined;
  if (typeof value !== 'string' || (protocol !== 'https:' && protocol !== 'http:')) throw providerFailed();
  return value;
}
