import { z } from 'zod';

const claim = z.string().nullable();

/** A user's profile at a provider, with bounded texts (oauth §3.4). Members that the provider omits are null. */
export const providerProfile = z
  .object({
    provider: z.string(),
    id: z.string(),
    email: claim,
    email_verified: z.boolean().nullable(),
    name: claim,
    username: claim,
    avatar_url: claim,
  })
  .readonly()
  .describe("the provider's claims; null for each claim that it omits")
  .meta({ id: 'ProviderProfile' });

export type Profile = z.output<typeof providerProfile>;

/**
 * Returns the profile in a one-time token's data, for the answer to the step that completes an exchange (oauth §3.6).
 * Tokens from other sign-ins and earlier releases have no profile.
 */
export const readPendingProfile = ({ profile }: Readonly<Record<string, unknown>>): { readonly profile?: Profile } =>
  profile === undefined ? {} : { profile: providerProfile.parse(profile) };
