import type { SettingKey } from '@recordbus/settings';
import type { Json } from './provider-http.ts';

/** Somebody who can say who a user is: the facts of one row of the table (interface §2.7, OAuth2 providers). */
export interface Provider {
  readonly displayName: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Separated by spaces; empty where none are asked for. */
  readonly scopes: string;
  /** What else the authorize URL says. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /**
   * How the client proves itself at the token endpoint: by HTTP Basic, in the form, by Basic with a JSON body, or by
   * Basic and, when that is refused, in the form (RFC 6749 §2.3.1).
   */
  readonly authentication: 'basic' | 'form' | 'basic_json' | 'basic_or_form';
  /** Is a challenge sent when it is asked for, whether or not it is, or not even then? */
  readonly pkce: 'offered' | 'always' | 'never';
  /** What has to be set beside the client id; the client secret when not given. */
  readonly needs?: readonly SettingKey[];
  /** Makes the client secret, where it is signed and not set. */
  readonly signSecret?: () => Promise<string>;
  /** Reads who it is; what comes of it is checked by `readIdentity`. */
  readonly readClaims: (source: ClaimsSource) => Promise<Claims>;
}

/** What a provider's claims are read from. */
export interface ClaimsSource {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly accessToken: string;
  /** All that the token endpoint said. */
  readonly tokens: Json;
  /** What the provider answers to the access token. Throws 422 when it refuses, 502 when it fails. */
  get(url: string, headers?: readonly (readonly [name: string, value: string])[]): Promise<Json>;
  /** The same, undefined when the provider refuses. */
  find(url: string): Promise<Json | undefined>;
}

/** Who it is, in the provider's words. */
export interface Claims {
  /** What the provider knows its user by, for ever. */
  readonly id: unknown;
  readonly email?: unknown;
  /** Does the provider vouch for the address being this user's? */
  readonly verified?: unknown;
}
