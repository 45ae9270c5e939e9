import { wholeNumber } from '@recordbus/shared/config';
import { setting, settingGroup } from './setting.ts';

export const files = settingGroup('Files', ['records'], {
  'files.thumbs_max_bytes': setting(
    wholeNumber(1024 ** 2, 2 ** 50),
    String(1024 ** 3),
    'Bytes of image previews to keep; the least recently used are deleted first.',
  ),
});
