import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { Sending } from '../../harness/clients/client.ts';
import { multipart, type Part } from '../../harness/clients/multipart.ts';

/** What providers post, in the formats that they publish. The texts are the tests' own. */

export const secrets = {
  'mail.inbound.postmark.secret': 'postmark-secret',
  'mail.inbound.mailgun.secret': 'mailgun-key',
  'mail.inbound.ses.secret': 'arn:aws:sns:eu-central-1:123456789012:mails',
};

const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });
export const postmarkPassword = basic(`postmark:${secrets['mail.inbound.postmark.secret']}`);
export const wrongPasswords = [{}, basic('postmark:wrong'), basic('postmark-secret'), { Authorization: 'Bearer x' }];

/** Postmark: https://postmarkapp.com/developer/webhooks/inbound-webhook */
export const postmarkMail = (Subject: string, more: object = {}) => ({
  FromName: 'Ada Lovelace',
  MessageStream: 'inbound',
  From: 'ada@example.com',
  FromFull: { Email: 'ada@example.com', Name: 'Ada Lovelace', MailboxHash: '' },
  To: '"Desk" <desk+42@inbound.example.org>',
  ToFull: [{ Email: 'desk+42@inbound.example.org', Name: 'Desk', MailboxHash: '42' }],
  Cc: '',
  CcFull: [{ Email: 'carl@example.com', Name: '', MailboxHash: '' }],
  Bcc: '',
  BccFull: [],
  OriginalRecipient: 'desk+42@inbound.example.org',
  Subject,
  MessageID: randomUUID(),
  ReplyTo: 'ada.private@example.com',
  MailboxHash: '42',
  Date: 'Thu, 5 Apr 2012 16:59:01 +0200',
  TextBody: 'My printer is on fire.\n',
  HtmlBody: '<p>My printer is on fire.</p>',
  StrippedTextReply: 'My printer is on fire.',
  Tag: '',
  Headers: [
    { Name: 'Message-ID', Value: '<second@example.com>' },
    { Name: 'In-Reply-To', Value: '<first@example.org>' },
    { Name: 'References', Value: '<first@example.org>' },
    { Name: 'X-Spam-Status', Value: 'No' },
  ],
  Attachments: [
    {
      Name: '../fire.png',
      Content: Buffer.from([0, 1, 2, 255]).toString('base64'),
      ContentType: 'image/png',
      ContentLength: 4,
      ContentID: 'fire.png@01CE7342',
    },
  ],
  ...more,
});

interface Signing {
  readonly key?: string;
  readonly token?: string;
  readonly ageSec?: number;
}

const signatureOf = ({
  key = secrets['mail.inbound.mailgun.secret'],
  token = randomBytes(25).toString('hex'),
  ageSec = 0,
}: Signing) => {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSec);
  return {
    timestamp,
    token,
    signature: createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex'),
  };
};

/** Mailgun, a parsed mail: https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/ */
export function mailgunMail(subject: string, signing: Signing = {}, more: readonly Part[] = []): Sending {
  const headers = [
    ['Mime-Version', '1.0'],
    ['Subject', subject],
    ['From', 'Ada Lovelace <ada@example.com>'],
    ['To', 'desk@example.org, "Second" <second@example.org>'],
    ['Message-Id', `<${subject.replaceAll(' ', '.')}@example.com>`],
    ['In-Reply-To', '<first@example.org>'],
  ];
  const fields = {
    recipient: 'desk@example.org',
    sender: 'ada@example.com',
    subject,
    from: 'Ada Lovelace <ada@example.com>',
    'Message-Id': `<${subject.replaceAll(' ', '.')}@example.com>`,
    'body-plain': 'Größe\n',
    'stripped-text': 'Größe',
    'message-headers': JSON.stringify(headers),
    'content-id-map': '{"<fire@x>":"attachment-1"}',
    ...signatureOf(signing),
  };
  const parts = Object.entries(fields).map(([name, content]) => ({ name, content }));
  return multipart(...parts, ...more);
}

/** Mailgun, a raw mail: a route to a URL that ends in `mime`. */
export function mailgunRaw(mime: string, signing: Signing = {}): Sending {
  const fields = { recipient: 'desk@example.org', 'body-mime': mime, ...signatureOf(signing) };
  return {
    rawBody: new URLSearchParams(fields).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  };
}

/** Amazon SNS, without a true signature. */
export const snsMessage = (more: object = {}): Sending => ({
  rawBody: JSON.stringify({
    Type: 'Notification',
    MessageId: randomUUID(),
    TopicArn: secrets['mail.inbound.ses.secret'],
    Message: '{"notificationType":"Received"}',
    Timestamp: new Date().toISOString(),
    SignatureVersion: '1',
    Signature: 'EXAMPLE',
    SigningCertURL: 'https://example.com/SimpleNotificationService-00000000000000000000000000000000.pem',
    ...more,
  }),
  headers: { 'Content-Type': 'text/plain; charset=UTF-8', 'x-amz-sns-message-type': 'Notification' },
});
