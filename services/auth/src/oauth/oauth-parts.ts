import type { AuthParts } from '../auth-parts.ts';
import type { OauthProviders } from './oauth-providers.ts';

/** What sign-in at a provider depends on. */
export interface OauthParts extends AuthParts {
  readonly oauth: OauthProviders;
}
