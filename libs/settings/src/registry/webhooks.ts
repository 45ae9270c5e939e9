import { wholeNumber } from '@recordbus/process/config';
import { origins } from './cors.ts';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { webhookOwnerFamilies } from './webhook-owners.ts';

const noOrigins: readonly string[] = [];
const yearSec = 365 * 24 * 3600;

export const webhooks = settingGroup(
  'Webhooks',
  ['webhooks', 'admin'],
  {
    'webhooks.pause_after_seconds': setting(
      wholeNumber(0, yearSec),
      '60',
      'A webhook is paused after this many seconds with nothing but failures; its deliveries wait. 0 means never.',
    ),
    'webhooks.pause_seconds': setting(
      wholeNumber(1, 86_400),
      '60',
      'Seconds that a pause lasts. Then one delivery is attempted; a success ends the pause.',
    ),
    'webhooks.disable_after_seconds': setting(
      wholeNumber(0, yearSec),
      '432000',
      'A webhook is disabled after this many seconds with nothing but failures. 0 means never.',
    ),
    'webhooks.mail_after_seconds': setting(
      wholeNumber(0, yearSec),
      '3600',
      "A webhook's owner gets a mail after this many seconds with nothing but failures. 0 means never.",
    ),
    'webhooks.portal_frames': unsetSetting(
      origins,
      noOrigins,
      'Comma-separated origins whose pages may show the webhook portal in a frame; empty for none.',
    ),
  },
  webhookOwnerFamilies,
);
