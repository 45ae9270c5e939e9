import { z } from 'zod';
import { type ProfileMap, profileMap } from './profile-map.ts';
import { setting, unsetSetting } from './setting.ts';
import { flag } from './text-schemas.ts';

const emptyMap: ProfileMap = {};

/** Sign-up settings by collection, for accounts created from a provider's profile too (auth §3.2, oauth §4). */
export const signUpFamilies = {
  'auth.sign_up.<collection>': setting(
    z.enum(['open', 'closed'], 'must be open or closed'),
    'open',
    'Who may sign up: open (everyone) or closed (only admins create accounts; existing accounts sign in).',
  ),
  'oauth2.profile.<collection>': unsetSetting(
    profileMap,
    emptyMap,
    "A new account's fields that take members from the provider's profile.",
  ),
  'oauth2.verified_email.<collection>': setting(
    flag,
    '0',
    'A new account takes the address that the provider vouches for, as a proved address.',
  ),
} as const;
