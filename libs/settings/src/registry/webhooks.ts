import { wholeNumber } from '@recordbus/shared/config';
import { setting, settingGroup } from './setting.ts';

const yearSec = 365 * 24 * 3600;

export const webhooks = settingGroup('Webhooks', ['webhooks'], {
  'webhooks.pause_after_seconds': setting(
    wholeNumber(0, yearSec),
    '60',
    'Seconds of failures without a success after which a webhook is paused; its events are kept. 0 = never.',
  ),
  'webhooks.pause_seconds': setting(
    wholeNumber(1, 86_400),
    '60',
    'Seconds that a pause lasts; then one delivery is tried, and a success ends the pause.',
  ),
  'webhooks.disable_after_seconds': setting(
    wholeNumber(0, yearSec),
    '432000',
    'Seconds of failures without a success after which a webhook is disabled. 0 = never.',
  ),
});
