import { accountAddress } from '@recordbus/schema';
import type { Profile } from '../identity/provider-profile.ts';
import { readProfile } from './profile.ts';
import type { Claims, ProviderName } from './provider.ts';
import { refusedByProvider } from './provider-errors.ts';

/** A user's identity at a provider. */
export interface Identity {
  readonly provider: ProviderName;
  /** The issuer of the id. Two issuers under one name are two providers (oauth §6.2). */
  readonly issuer: string;
  readonly providerUserId: string;
  /** The address if the provider vouches for it. */
  readonly verifiedEmail: string | undefined;
  readonly profile: Profile;
}

const maxIdLength = 255;

/** Reads an identity from a provider's claims. Throws 422 when they have no usable id. */
export function readIdentity({ provider, issuer }: Pick<Identity, 'provider' | 'issuer'>, claims: Claims): Identity {
  const { id, email, verified } = claims;
  const providerUserId = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  if (typeof providerUserId !== 'string' || !isSaneId(providerUserId))
    throw refusedByProvider('the profile has no usable id');
  const address = isTrue(verified) ? accountAddress.safeParse(email).data : undefined;
  const profile = readProfile({ provider, id: providerUserId }, claims, address);
  return { provider, issuer, providerUserId, verifiedEmail: address, profile };
}

const isSaneId = (id: string): boolean => id !== '' && id.length <= maxIdLength && !/[\p{Cc}\p{Cs}]/u.test(id);

/** Some providers write booleans as strings or numbers. */
const isTrue = (value: unknown): boolean => value === true || value === 'true' || value === 1 || value === '1';
