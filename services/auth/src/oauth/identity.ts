import { emailAddress } from '@recordbus/schema';
import type { OauthProviderName } from '@recordbus/settings';
import type { Claims } from './provider.ts';
import { refusedByProvider } from './provider-errors.ts';

/** Who somebody is at a provider. */
export interface Identity {
  readonly provider: OauthProviderName;
  readonly providerUserId: string;
  /** An address that the provider vouches for; others are of no use here. */
  readonly verifiedEmail: string | undefined;
}

const maxIdLength = 255;

/** Takes from a provider's claims what counts. Throws 422 when they do not say who it is. */
export function readIdentity(provider: OauthProviderName, { id, email, verified }: Claims): Identity {
  const providerUserId = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  if (typeof providerUserId !== 'string' || !isSaneId(providerUserId))
    throw refusedByProvider('the profile has no usable id');
  const address = isTrue(verified) ? emailAddress.safeParse(email).data : undefined;
  return { provider, providerUserId, verifiedEmail: address };
}

const isSaneId = (id: string): boolean => id !== '' && id.length <= maxIdLength && !/[\p{Cc}\p{Cs}]/u.test(id);

/** Some providers write booleans as strings or numbers. */
const isTrue = (value: unknown): boolean => value === true || value === 'true' || value === 1 || value === '1';
