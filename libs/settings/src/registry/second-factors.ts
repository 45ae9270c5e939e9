import { boundedText } from '@recordbus/text/bounded-text';
import { setting, unsetSetting } from './setting.ts';
import { flag } from './text-schemas.ts';

/** More than any expression may have (rules §6.2). */
const expression = boundedText(10_000).describe('an expression');

/** Second factors by collection of accounts (auth §6.10, §6.11). */
export const secondFactorFamilies = {
  'auth.mfa.required.<collection>': unsetSetting(
    expression,
    '',
    'Which accounts need a second factor: an expression over the account. Who has none sets one up at the next sign-in.',
  ),
  'auth.mfa.email.<collection>': setting(
    flag,
    '0',
    'A mailed code is the second factor of accounts without an authenticator app, except after a mailed code. Needs mail.',
  ),
} as const;
