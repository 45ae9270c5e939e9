import { setting, settingGroup } from './setting.ts';
import { flag, numberWithFloor } from './text-schemas.ts';

const minLength = 8;

export const passwordPolicy = settingGroup('Password policy', ['auth', 'admin', 'records'], {
  'password.min_length': setting(
    numberWithFloor(minLength, 256),
    '12',
    'Shortest length in characters; below 8 counts as 8.',
  ),
  'password.require_upper': setting(flag, '0', 'An upper-case letter is required.'),
  'password.require_lower': setting(flag, '0', 'A lower-case letter is required.'),
  'password.require_digit': setting(flag, '0', 'A digit is required.'),
  'password.require_symbol': setting(flag, '0', 'A character that is neither letter nor digit is required.'),
  'password.hibp_check': setting(
    flag,
    '0',
    'Refuse passwords known from breaches; only 5 SHA-1 characters leave the server.',
  ),
});
