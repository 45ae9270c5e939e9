import { createHash } from 'node:crypto';
import { isSameText } from '@recordbus/crypto/is-same-text';
import { AppError } from '@recordbus/errors';
import { z } from 'zod';
import { receivedMail, unreadable } from '../received-mail.ts';
import { type InboundProvider, readJson, readText } from './provider.ts';

const text = z.string().nullish();
const addresses = z
  .array(z.looseObject({ Email: z.string(), Name: text }))
  .nullish()
  .transform((list) => (list ?? []).map(({ Email, Name }) => ({ address: Email, name: Name ?? '' })));

/** https://postmarkapp.com/developer/webhooks/inbound-webhook */
const inbound = z.looseObject({
  MessageID: z.string().min(1).max(200),
  From: text,
  FromName: text,
  FromFull: z.looseObject({ Email: z.string(), Name: text }).nullish(),
  ToFull: addresses,
  CcFull: addresses,
  BccFull: addresses,
  OriginalRecipient: text,
  ReplyTo: text,
  Subject: text,
  TextBody: text,
  HtmlBody: text,
  Headers: z.array(z.looseObject({ Name: z.string(), Value: z.string() })).nullish(),
  Attachments: z
    .array(z.looseObject({ Name: text, Content: z.string(), ContentType: text, ContentID: text }))
    .nullish(),
});

type Inbound = z.output<typeof inbound>;

/** Postmark: JSON, with the secret as the password of HTTP Basic (mail §6.2). */
export const postmark: InboundProvider = {
  maxBytes: 25 * 2 ** 20,
  admit(authorization, secret) {
    const encoded = /^Basic +([A-Za-z0-9+/]{1,2048}={0,2}) *$/i.exec(authorization ?? '')?.[1] ?? '';
    const given = Buffer.from(encoded, 'base64').toString();
    const password = given.slice(given.indexOf(':') + 1);
    if (!given.includes(':') || !isSameText(digest(password), digest(secret))) throw wrongPassword();
  },
  async read({ body }) {
    const read = inbound.safeParse(readJson(readText(body)));
    if (!read.success) {
      const { path, message } = read.error.issues[0] ?? { path: [], message: '' };
      throw unreadable(`${path.join('.') || 'the body'} is not as Postmark sends it (${message})`);
    }
    return { mail: mailOf(read.data), messageKey: read.data.MessageID };
  },
};

/** Digests have one length, so the comparison takes one time. */
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const wrongPassword = () =>
  new AppError(401, 'unauthenticated', 'the password is not mail.inbound.postmark.secret', {
    headers: { 'WWW-Authenticate': 'Basic realm="mail"' },
  });

function mailOf(given: Inbound) {
  const headers = (given.Headers ?? []).map(({ Name, Value }) => ({ name: Name, value: Value }));
  const find = (name: string) => headers.find((one) => one.name.toLowerCase() === name)?.value;
  const from = given.FromFull?.Email || given.From;
  const recipients = [
    given.OriginalRecipient,
    ...[...given.ToFull, ...given.CcFull, ...given.BccFull].map(({ address }) => address),
  ];
  return receivedMail(
    {
      messageId: find('message-id'),
      inReplyTo: find('in-reply-to'),
      references: find('references'),
      from: from ? { address: from, name: given.FromFull?.Name ?? given.FromName ?? '' } : undefined,
      replyTo: given.ReplyTo ? [{ address: given.ReplyTo, name: '' }] : [],
      to: given.ToFull,
      cc: given.CcFull,
      subject: given.Subject ?? undefined,
      text: given.TextBody ?? undefined,
      html: given.HtmlBody ?? undefined,
      headers,
      attachments: (given.Attachments ?? []).map(({ Name, Content, ContentType, ContentID }) => ({
        name: Name ?? null,
        type: ContentType ?? '',
        content: Buffer.from(Content, 'base64'),
        contentId: ContentID || null,
      })),
    },
    {
      provider: 'postmark',
      recipients: given.OriginalRecipient ? [given.OriginalRecipient] : recipients.filter((one) => one != null),
    },
  );
}
