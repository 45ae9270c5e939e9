import type { OauthProviderName, SettingKey } from '@recordbus/settings';
import type { Json } from './provider-http.ts';

/** A provider's name: one from the table, or a named OpenID provider (oauth §1.4). */
export type ProviderName = OauthProviderName | `oidc.${string}`;

/** A provider: one table row (oauth §1.1). */
export interface Provider {
  readonly displayName: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /**
   * The issuer of its users' ids; the token address by default. Links are bound to it (oauth §6.1), so if a row's token
   * address changes, this must be the former one.
   */
  readonly issuer?: string;
  /** Separated by spaces; may be empty. */
  readonly scopes: string;
  /** Further parameters for the authorize URL. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /**
   * How the client authenticates at the token endpoint: with HTTP Basic, in the form, with Basic and a JSON body, or
   * with Basic and, after a refusal, in the form (RFC 6749 §2.3.1).
   */
  readonly authentication: 'basic' | 'form' | 'basic_json' | 'basic_or_form';
  /** Whether a challenge is sent: on request, always, or never (oauth §2.4). */
  readonly pkce: 'offered' | 'always' | 'never';
  /** The settings that it needs in addition to the client id; by default the client secret. */
  readonly needs?: readonly SettingKey[];
  /** Whether its addresses are set or can be discovered; true by default. */
  readonly isComplete?: boolean;
  /** Returns the provider with missing addresses from its discovery document. */
  readonly discover?: () => Promise<Provider>;
  /** Signs the client secret for a provider that has no fixed one. */
  readonly signSecret?: () => Promise<string>;
  /** Reads the claims; `readIdentity` checks them. */
  readonly readClaims: (source: ClaimsSource) => Promise<Claims>;
}

/** Where a provider's claims come from. */
export interface ClaimsSource {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly accessToken: string;
  /** The token endpoint's answer. */
  readonly tokens: Json;
  /** Calls the provider with the access token. Throws 422 when it refuses, 502 when it fails. */
  get(url: string, headers?: readonly (readonly [name: string, value: string])[]): Promise<Json>;
  /** Like `get`, but returns undefined when the provider refuses. */
  find(url: string): Promise<Json | undefined>;
}

/** A provider's unchecked claims. */
export interface Claims {
  /** The user's permanent id. */
  readonly id: unknown;
  readonly email?: unknown;
  /** Whether the provider vouches for the address. */
  readonly verified?: unknown;
  readonly name?: unknown;
  /** The handle that the provider's other users see. */
  readonly username?: unknown;
  readonly avatarUrl?: unknown;
}
