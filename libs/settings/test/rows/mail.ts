import type { SettingKey } from '../../src/index.ts';
import { flag, type Row, url, whole } from '../row.ts';

const tooLong = 'x'.repeat(100_001);

const multiLine = 'a\nBcc: eve@example.com';

const subject = (text: string): Row => ({
  text,
  good: [
    ['Hi {{email}}', 'Hi {{email}}'],
    ['{{ link }} 🎉', '{{ link }} 🎉'],
  ],
  bad: [
    [multiLine, /one line/],
    ['x'.repeat(401), /at most 400/],
    ['{{tokne}}', /\{\{tokne\}\} is not a variable/],
  ],
});

const body: Row = {
  text: '*',
  good: [
    [
      'a\r\n\tb {{link}} {{token}} {{email}} {{appUrl}} {{collection}}',
      'a\r\n\tb {{link}} {{token}} {{email}} {{appUrl}} {{collection}}',
    ],
  ],
  bad: [
    [tooLong, /at most 100000/],
    ['a\u0007', /control characters/],
    ['{{password}}', /is not a variable/],
  ],
};

const inboundSecret: Row = {
  text: '',
  good: [['key-3f/+=', 'key-3f/+=']],
  bad: [
    ['a b', /visible ASCII/],
    ['passwörd', /visible ASCII/],
    ['x'.repeat(1025), /at most 1024/],
  ],
};

export const mailRows = {
  'smtp.enabled': flag('0'),
  'smtp.host': {
    text: '',
    good: ['smtp.example.com', 'localhost', '127.0.0.1', '::1', 'mail_relay', 'smtp.example.com.'].map((host) => [
      host,
      host,
    ]),
    bad: ['smtp://example.com', 'a b', 'example.com:587', '-a.com', 'a..b', `${'a'.repeat(64)}.com`, 'x\r\n'].map(
      (bad) => [bad, /host name or an IP/],
    ),
  },
  'smtp.port': whole('587', 1, 65_535),
  'smtp.secure': flag('0'),
  'smtp.require_tls': { ...flag('0'), text: '', value: undefined },
  'smtp.user': {
    text: '',
    good: [
      ['ada@example.com', 'ada@example.com'],
      ['ä b', 'ä b'],
    ],
    bad: [[multiLine, /one line/]],
  },
  'smtp.pass': {
    text: '',
    good: [['pass word ✓', 'pass word ✓']],
    bad: [
      ['a\nb', /one line/],
      ['enc:1:a:b', /enc:1:/],
    ],
  },
  'smtp.from': {
    text: '',
    good: [
      'ada@example.com',
      'Ada Lovelace <ada@example.com>',
      '"Lovelace, Ada" <ada@example.com>',
      'Zoë <zoe@localhost>',
      '<a@b.c>',
    ].map((from) => [from, from]),
    bad: [
      ...['ada', 'Ada <ada>', 'a@b.c, d@e.f', 'Ada <a@b.c> <d@e.f>', '@b.c', 'a b@c.d'].map(
        (bad) => [bad, /one address/] as const,
      ),
      ['Ada <a@b.c>\r\nBcc: eve@example.com', /one line/],
    ],
  },
  'mail.inbound.postmark.secret': inboundSecret,
  'mail.inbound.mailgun.secret': inboundSecret,
  'mail.inbound.ses.secret': {
    text: '',
    good: ['arn:aws:sns:eu-central-1:123456789012:mails', 'arn:aws-us-gov:sns:us-gov-west-1:123456789012:a.fifo'].map(
      (arn) => [arn, arn],
    ),
    bad: ['mails', 'arn:aws:sqs:eu-central-1:123456789012:mails', 'arn:aws:sns:eu-central-1:12:mails', 'a b'].map(
      (bad) => [bad, /ARN of an SNS topic|visible ASCII/],
    ),
  },
  'app.url': url,
  'email.lang': {
    text: 'en',
    good: [
      ['de', 'de'],
      ['pt-BR', 'pt-BR'],
    ],
    bad: ['english please', 'x', 'de_AT', '"><script>', 'de-'].map((bad) => [bad, /language tag/]),
  },
  'email.verify.subject': subject('Verify your email'),
  'email.verify.body': { ...body, bad: [...body.bad, ['{{code}}', /is not a variable/]] },
  'email.reset.subject': subject('Reset your password'),
  'email.reset.body': { ...body, bad: [...body.bad, ['{{code}}', /is not a variable/]] },
  'email.otp.subject': { ...subject('Your sign-in code'), good: [['{{code}}', '{{code}}']] },
  'email.otp.body': { ...body, good: [['{{code}}', '{{code}}']] },
  'email.mfa.subject': { ...subject('Your sign-in code'), good: [['{{code}}', '{{code}}']] },
  'email.mfa.body': { ...body, good: [['{{code}}', '{{code}}']] },
  'email.change.subject': subject('Confirm your new address'),
  'email.change.body': { ...body, bad: [...body.bad, ['{{newEmail}}', /is not a variable/]] },
  'email.change_notice.subject': { ...subject('Your address was changed'), good: [['{{newEmail}}', '{{newEmail}}']] },
  'email.change_notice.body': {
    ...body,
    good: [['{{email}} {{newEmail}}', '{{email}} {{newEmail}}']],
    bad: [...body.bad, ['{{token}}', /is not a variable/], ['{{link}}', /is not a variable/]],
  },
  'email.change_undo.subject': subject('Your address was changed'),
  'email.change_undo.body': { ...body, good: [['{{link}} {{newEmail}}', '{{link}} {{newEmail}}']] },
  'email.password_notice.subject': { ...subject('Your password was changed'), good: [['{{email}}', '{{email}}']] },
  'email.password_notice.body': { ...body, good: [], bad: [...body.bad, ['{{link}}', /is not a variable/]] },
  'email.removed_notice.subject': {
    ...subject('A way to sign in was removed'),
    good: [['{{removed}}', '{{removed}}']],
  },
  'email.removed_notice.body': { ...body, good: [['{{removed}}', '{{removed}}']] },
  'email.webhook_failing.subject': { ...subject('Your webhook fails'), good: [['{{webhook}}', '{{webhook}}']] },
  'email.webhook_failing.body': {
    ...body,
    good: [['{{webhook}} {{host}} {{since}}', '{{webhook}} {{host}} {{since}}']],
    bad: [...body.bad, ['{{link}}', /is not a variable/]],
  },
  'email.webhook_disabled.subject': { ...subject('Your webhook was disabled'), good: [['{{host}}', '{{host}}']] },
  'email.webhook_disabled.body': {
    ...body,
    good: [['{{webhook}} {{reason}}', '{{webhook}} {{reason}}']],
    bad: [...body.bad, ['{{since}}', /is not a variable/]],
  },
} satisfies Partial<Record<SettingKey, Row>>;
