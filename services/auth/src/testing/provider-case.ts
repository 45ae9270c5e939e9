import type { SettingKey } from '@recordbus/settings';
import type { HostAnswer } from './provider-hosts.ts';

export const clientId = 'our-id';
export const clientSecret = 'our/secret+';

/** The account's address at every provider. */
export const ann = 'ann@example.com';

export interface Identity {
  readonly providerUserId: string;
  readonly verifiedEmail: string | undefined;
}

/** What a provider expects and answers, and the identity that results. */
export interface ProviderCase {
  readonly settings?: Partial<Record<SettingKey, string>>;
  readonly authorizeUrl: string;
  readonly token: { readonly url: string; readonly proof: 'basic' | 'form' | 'basic_json' };
  readonly answers: Readonly<Record<string, HostAnswer>>;
  /** Further members in the token endpoint's answer. */
  readonly tokenMembers?: object;
  readonly identity: Identity;
  /** Other answers and their identities. */
  readonly variants?: readonly (readonly [
    what: string,
    change: { readonly answers?: Readonly<Record<string, HostAnswer>>; readonly tokenMembers?: object },
    identity: Identity,
  ])[];
  /** Checks each request for the profile. */
  readonly checkRequest?: (headers: Readonly<Record<string, unknown>>, url: string) => void;
}

export const annWith = (providerUserId: string): Identity => ({ providerUserId, verifiedEmail: ann });
export const withoutEmail = (providerUserId: string): Identity => ({ providerUserId, verifiedEmail: undefined });
