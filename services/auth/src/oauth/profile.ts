import type { Profile } from '../identity/provider-profile.ts';
import type { Claims } from './provider.ts';

const maxNameLength = 255;
const maxUrlLength = 2048;

/** Reads the profile from the claims. A text that is too long or has control characters becomes null. */
export function readProfile(
  { provider, id }: Pick<Profile, 'provider' | 'id'>,
  { email, verified, name, username, avatarUrl }: Claims,
  address: string | undefined,
): Profile {
  const shown = address ?? textOf(email, maxNameLength);
  return {
    provider,
    id,
    email: shown,
    email_verified: shown === null || verified === undefined || verified === null ? null : address !== undefined,
    name: textOf(name, maxNameLength),
    username: textOf(username, maxNameLength),
    avatar_url: urlOf(textOf(avatarUrl, maxUrlLength)),
  };
}

function textOf(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string' || value.length > maxLength) return null;
  return value.trim() === '' || /[\p{Cc}\p{Cs}]/u.test(value) ? null : value;
}

const urlOf = (text: string | null): string | null => {
  const protocol = text === null ? undefined : URL.parse(text)?.protocol;
  return protocol === 'https:' || protocol === 'http:' ? text : null;
};
