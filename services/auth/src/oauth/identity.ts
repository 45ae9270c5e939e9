import { accountAddress } from '@recordbus/schema';
import type { Profile } from '../identity/provider-profile.ts';
import { readProfile } from './profile.ts';
import type { Claims, ProviderName } from './provider.ts';
import { refusedByProvider } from './provider-errors.ts';

/** A user's identity at a provider. */
export interface Identity {
  readonly provider: ProviderName;
  /** The id's issuer. Two issuers under one name are two providers (oauth §6.2). */
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
  // A claim with another type is not proof, even the text "true" (OIDC Core §5.1).
  const address = verified === true ? provableAddress(email) : undefined;
  const profile = readProfile({ provider, id: providerUserId }, claims, address);
  return { provider, issuer, providerUserId, verifiedEmail: address, profile };
}

/** Whether a text can be a user's id at a provider. */
export const isSaneId = (id: string): boolean => id !== '' && id.length <= maxIdLength && !/[\p{Cc}\p{Cs}]/u.test(id);

/** Returns the address if it can be anyone's: nobody holds a made-up one (auth §1.4, RFC 6761 §6.4). */
function provableAddress(email: unknown): string | undefined {
  const { data } = accountAddress.safeParse(email);
  return data === undefined || /\.invalid$/i.test(data) ? undefined : data;
}
