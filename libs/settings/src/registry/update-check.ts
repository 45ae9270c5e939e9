import { wholeNumber } from '@recordbus/process/config';
import { setting, settingGroup, stateOf, unsetSetting } from './setting.ts';
import { flag, line } from './text-schemas.ts';

export const updateCheck = settingGroup('Update checker', ['admin'], {
  'update_check.enabled': setting(flag, '1', 'Ask the release host for the latest version every 6 hours.'),
  'update_check.latest_version': stateOf(
    unsetSetting(line(100), '', 'Latest release tag seen; written by the checker.'),
  ),
  'update_check.checked_at': stateOf(
    unsetSetting(
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
      undefined,
      'When the release host last answered, in unix seconds; written by the checker.',
    ),
  ),
  'update_check.error': stateOf(unsetSetting(line(1000), '', "The last check's error; written by the checker.")),
});
