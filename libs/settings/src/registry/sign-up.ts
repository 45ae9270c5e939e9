import { z } from 'zod';
import { type ProfileMap, profileMap } from './profile-map.ts';
import { setting, unsetSetting } from './setting.ts';
import { commaList, flag } from './text-schemas.ts';

const emptyMap: ProfileMap = {};
const noNames: readonly string[] = [];
const maxIdentityFields = 5;

/** Names of fields, each once. */
const fieldNames = commaList
  .refine((names) => names.length > 0, 'must name a field')
  .refine((names) => names.length <= maxIdentityFields, `must have at most ${maxIdentityFields} fields`)
  .refine((names) => names.every((name) => /^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name)), 'must be names of fields')
  .refine((names) => new Set(names).size === names.length, 'must not have a field twice')
  .describe('comma-separated fields');

/** The ways to sign in that a collection may take (auth §1.6). */
const ways = ['password', 'otp', 'oauth2', 'passkey', 'anonymous'] as const;
export type WayIn = (typeof ways)[number];

const anyWay: readonly (WayIn | 'none')[] = [];

/** Ways, each once, or `none` alone. */
const wayNames = commaList
  .refine((names) => names.length > 0, `must name some of ${ways.join(', ')}, or none`)
  .refine((names) => new Set(names).size === names.length, 'must not have a way twice')
  .refine((names) => names.length === 1 || !names.includes('none'), 'must have none alone')
  .pipe(z.array(z.enum([...ways, 'none'], `must be some of ${ways.join(', ')}, or none`)).readonly())
  .describe(`comma-separated: ${ways.join(', ')}; or none`);

/** Sign-up settings by collection, for accounts created from a provider's profile too (auth §3.2, oauth §4). */
export const signUpFamilies = {
  'auth.sign_up.<collection>': setting(
    z.enum(['open', 'closed'], 'must be open or closed'),
    'open',
    'Who may sign up: open (everyone) or closed (only admins create accounts; existing accounts sign in).',
  ),
  'auth.identity.<collection>': unsetSetting(
    fieldNames,
    noNames,
    'Unique fields by which a login names an account, in addition to the address, such as username.',
  ),
  'auth.methods.<collection>': unsetSetting(
    wayNames,
    anyWay,
    'The only ways to sign in to the collection. Unset: every way that is switched on.',
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
