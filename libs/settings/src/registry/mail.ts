import { isIP } from 'node:net';
import { wholeNumber } from '@recordbus/shared/config';
import { z } from 'zod';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { flag, line } from './text-schemas.ts';

const hostLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

const isHostName = (text: string) =>
  text.length <= 253 &&
  text
    .replace(/\.$/, '')
    .split('.')
    .every((label) => hostLabel.test(label));

const hostName = z
  .string()
  .refine((text) => isIP(text) !== 0 || isHostName(text), 'must be a host name or an IP address, without port');

/** `ada@example.com` or `Ada Lovelace <ada@example.com>` (RFC 5322 §3.4, one mailbox). */
const mailbox = line(320).regex(
  /^(?:[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+|(?:"[^"\\<>]*"|[^"\\<>,;:@()]*)\s*<[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+>)$/,
  'must be one address, as name@example.com or Name <name@example.com>',
);

export const mail = settingGroup('Mail (SMTP)', ['auth'], {
  'smtp.enabled': setting(flag, '0', 'Send mail; needs smtp.host and smtp.from.'),
  'smtp.host': unsetSetting(hostName, '', 'Host name or address of the mail server.'),
  'smtp.port': setting(wholeNumber(1, 65_535), '587', 'Port of the mail server.'),
  'smtp.secure': setting(
    flag,
    '0',
    'TLS from the first byte (port 465); otherwise STARTTLS when the server offers it.',
  ),
  'smtp.user': unsetSetting(line(512), '', 'User name at the mail server; empty for none.'),
  'smtp.pass': unsetSetting(line(1024), '', 'Password at the mail server.'),
  'smtp.from': unsetSetting(mailbox, '', 'Sender, as Name <name@example.com>.'),
});
