import { wholeNumber } from '@recordbus/process/config';
import { boundedText } from '@recordbus/text/bounded-text';
import { setting, settingGroup, unsetSetting } from './setting.ts';

/** Labels with letters, digits and hyphens (RFC 1123 §2.1), and a port. */
const hostPattern = /^(?=[a-z0-9])[a-z0-9.-]+(?<![.-])(:[1-9]\d{0,4})?$/;

const hostName = boundedText(260)
  .transform((text) => text.toLowerCase())
  .refine(
    (text) => hostPattern.test(text) && URL.canParse(`http://${text}`),
    'must be a host such as files.example.com, with its port if it is not 80 or 443, and without https://',
  )
  .transform((text) => text.replace(/:(80|443)$/, ''))
  .describe('a host, and its port');

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
