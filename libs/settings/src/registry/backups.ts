import { wholeNumber } from '@recordbus/process/config';
import { boundedText } from '@recordbus/text/bounded-text';
import { Cron } from 'croner';
import { setting, settingGroup, unsetSetting } from './setting.ts';

/** A cron expression with five fields. */
const cronExpression = boundedText(100).refine((text) => {
  try {
    return new Cron(text, { paused: true, mode: '5-part' }).nextRun() !== null;
  } catch {
    return false;
  }
}, 'must be a cron expression with five fields, such as 0 3 * * *, that has a next time');

export const backups = settingGroup('Backups', ['records'], {
  'backups.cron': unsetSetting(
    cronExpression,
    '',
    'When backups are made, as a cron expression in UTC. Empty: only on request.',
  ),
  'backups.keep': setting(
    wholeNumber(1, 15),
    '7',
    'How many scheduled backups are kept, 1 to 15. The oldest ones are deleted.',
  ),
});
