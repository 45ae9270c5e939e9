import { wholeNumber } from '@recordbus/process/config';
import { setting, settingGroup } from './setting.ts';
import { numberWithFloor } from './text-schemas.ts';

const minDurationSec = 60;
const yearSec = 31_536_000;

export const lockout = settingGroup('Brute-force lockout', ['auth'], {
  'auth.lockout.max_attempts': setting(
    wholeNumber(0, 100_000),
    '0',
    'Failed logins after which an address or a client is locked out; 0 means never.',
  ),
  'auth.lockout.duration_seconds': setting(
    numberWithFloor(minDurationSec, yearSec),
    '900',
    'Lockout window and length, in seconds; below 60 counts as 60.',
  ),
});
