import { wholeNumber } from '@recordbus/process/config';
import { hostName } from './host-name.ts';
import { setting, settingGroup, unsetSetting } from './setting.ts';

export const files = settingGroup('Files', ['gateway', 'records', 'admin'], {
  'files.thumbs_max_bytes': setting(
    wholeNumber(1024 ** 2, 2 ** 50),
    String(1024 ** 3),
    'Image previews to keep, in bytes; the least recently used are deleted first.',
  ),
  'files.host': unsetSetting(
    hostName,
    undefined,
    'Host that serves record files, and nothing else, such as files.example.com. Empty: every host serves them.',
  ),
});
