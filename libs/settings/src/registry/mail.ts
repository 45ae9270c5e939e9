import { isIP } from 'node:net';
import { wholeNumber } from '@recordbus/process/config';
import { boundedText } from '@recordbus/text/bounded-text';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { flag, line } from './text-schemas.ts';

const hostLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

const isHostName = (text: string) =>
  text
    .replace(/\.$/, '')
    .split('.')
    .every((label) => hostLabel.test(label));

/** RFC 1035 §2.3.4. */
const hostName = boundedText(253).refine(
  (text) => isIP(text) !== 0 || isHostName(text),
  'must be a host name or an IP address, without port',
);

const bareAddress = /^[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+$/;
const displayName = /^(?:"[^"\\<>]*"|[^"\\<>,;:@()]*)$/;

/** `ada@example.com` or `Ada Lovelace <ada@example.com>` (RFC 5322 §3.4, one mailbox). */
function isMailbox(text: string): boolean {
  if (!text.endsWith('>')) return bareAddress.test(text);
  const opening = text.indexOf('<');
  return displayName.test(text.slice(0, opening).trimEnd()) && bareAddress.test(text.slice(opening + 1, -1));
}

const mailbox = line(320).refine(isMailbox, 'must be one address, such as name@example.com or Name <name@example.com>');

export const mail = settingGroup('Mail (SMTP)', ['auth'], {
  'smtp.enabled': setting(flag, '0', 'Send mail; needs smtp.host and smtp.from.'),
  'smtp.host': unsetSetting(hostName, '', 'Mail server host name or address.'),
  'smtp.port': setting(wholeNumber(1, 65_535), '587', 'Mail server port.'),
  'smtp.secure': setting(flag, '0', 'TLS from the first byte (port 465); otherwise STARTTLS.'),
  'smtp.require_tls': unsetSetting(
    flag,
    undefined,
    'Send no mail without TLS: 1 or 0. When not set, TLS is required unless the server is on this machine.',
  ),
  'smtp.user': unsetSetting(line(512), '', 'User name at the mail server; empty for none.'),
  'smtp.pass': unsetSetting(line(1024), '', 'Password at the mail server.'),
  'smtp.from': unsetSetting(mailbox, '', 'Sender, such as Name <name@example.com>.'),
});

/** Visible ASCII, as providers' keys and topics are. */
const inboundSecret = boundedText(1024).regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters, without spaces');

export const inboundMail = settingGroup('Mail that comes in', ['records'], {
  'mail.inbound.postmark.secret': unsetSetting(
    inboundSecret,
    '',
    'The password in the URL that Postmark posts mails to. Empty: nothing is taken from Postmark.',
  ),
  'mail.inbound.mailgun.secret': unsetSetting(
    inboundSecret,
    '',
    "Mailgun's HTTP webhook signing key. Empty: nothing is taken from Mailgun.",
  ),
  'mail.inbound.ses.secret': unsetSetting(
    inboundSecret.regex(
      /^arn:aws(-cn|-us-gov)?:sns:[a-z0-9-]{1,40}:\d{12}:[\w.-]{1,256}$/,
      'must be the ARN of an SNS topic, such as arn:aws:sns:eu-central-1:123456789012:mails',
    ),
    '',
    "The ARN of the SNS topic with Amazon SES's mails. Empty: nothing is taken from SES.",
  ),
});
