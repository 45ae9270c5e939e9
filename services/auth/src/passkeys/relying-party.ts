import { AppError } from '@recordbus/errors';
import { admitsOrigin, type Settings } from '@recordbus/settings';
import { requireFeature } from '../features.ts';

/** The site that passkeys belong to (WebAuthn 3 §4, relying party). */
export interface RelyingParty {
  /** The domain. Browsers offer a passkey on it and on its subdomains. */
  readonly id: string;
  /** Whether a page or app at this origin may use the passkeys. */
  admits(origin: string): boolean;
}

/** Where the settings name no site, passkeys work during development, on any port. */
const development = { id: 'localhost', origins: ['http://localhost:*'] };

/**
 * Returns the site in the settings (auth §4.6). Throws 422 while passkeys are switched off, and when the settings name only
 * an address: browsers want a domain.
 */
export function requireRelyingParty(settings: Pick<Settings, 'get'>): RelyingParty {
  requireFeature(settings, 'auth.passkeys.enabled');
  const app = URL.parse(settings.get('app.url'));
  const id = settings.get('auth.passkeys.rp_id') || app?.hostname || development.id;
  if (isAddress(id))
    throw new AppError(422, 'passkeys_not_configured', 'passkeys need a domain: set auth.passkeys.rp_id');
  const origins = originsOf(id, settings.get('auth.passkeys.origins'), app);
  return { id, admits: (origin) => origins.some((allowed) => admitsOrigin(allowed, origin)) };
}

function originsOf(id: string, named: readonly string[], app: URL | null): readonly string[] {
  if (named.length > 0) return named;
  if (app && (app.hostname === id || app.hostname.endsWith(`.${id}`))) return [app.origin];
  return id === development.id ? development.origins : [`https://${id}`];
}

const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host) || host.startsWith('[');
