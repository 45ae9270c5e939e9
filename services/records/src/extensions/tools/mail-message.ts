import { isOneAddress, type Mailbox } from '@recordbus/mail';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { actingCaller } from './acting-caller.ts';
import { mailHeaders } from './mail-headers.ts';

const maxTextLength = 1024 * 1024;
const maxRecipients = 50;
const maxAttachments = 20;

const oneLine = /^[^\p{Cc}\u2028\u2029\ud800-\udfff]*$/u;

/** `ada@example.com`, or `Ada Lovelace <ada@example.com>` with or without quotes. */
function readMailbox(text: string): Mailbox | undefined {
  const [, quoted, plain = '', inner] = /^(?:"([^"\\<>]*)" ?|([^"\\<>]*))<([^<>]*)>$/.exec(text) ?? [];
  const box = inner === undefined ? { name: '', address: text } : { name: (quoted ?? plain).trim(), address: inner };
  return isOneAddress(box.address) ? box : undefined;
}

const mailbox = boundedText(320)
  .regex(oneLine, 'must be one line')
  .transform((text, context) => {
    const box = readMailbox(text);
    if (box) return box;
    context.addIssue({
      code: 'custom',
      message: 'must be an address, such as ada@example.com or Ada <ada@example.com>',
    });
    return z.NEVER;
  });

/** An address or a list of them. */
const mailboxes = z.preprocess(
  (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]),
  z.array(mailbox).max(maxRecipients, `may have at most ${maxRecipients} addresses`),
);

/** A file's name as receivers see it: no path. */
const fileName = boundedText(255)
  .min(1, 'is required')
  .regex(/^[^\p{Cc}\u2028\u2029\ud800-\udfff/\\]*$/u, 'must be a file name without a path');

const mediaType = boundedText(127).regex(
  /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$/,
  'must be a media type, such as application/pdf',
);

/** Bytes, which stand beside the mail's text, or files of a record. */
const attachment = z.union(
  [
    z.strictObject({ name: fileName, type: mediaType }),
    z.strictObject({
      collection: boundedText(63),
      id: boundedText(255),
      field: boundedText(63),
      name: boundedText(255).optional(),
    }),
  ],
  'must be {name, content, type} or {collection, id, field, name?}',
);

export type WantedAttachment = z.output<typeof attachment>;

/** What `mail.send` takes (mail §5.1), without the attachments' bytes. */
export const mailMessage = z
  .strictObject({
    to: mailboxes.refine((boxes) => boxes.length > 0, 'is required'),
    cc: mailboxes,
    bcc: mailboxes,
    reply_to: mailboxes,
    subject: z.string().min(1, 'is required').max(998, 'is too long'),
    text: z.string().max(maxTextLength, 'is too long'),
    html: z.string().max(maxTextLength, 'is too long').optional(),
    headers: mailHeaders,
    attachments: z.array(attachment).max(maxAttachments, `may have at most ${maxAttachments} entries`).default([]),
    about: z.strictObject({ collection: boundedText(63), id: boundedText(255) }).optional(),
    as: actingCaller,
  })
  .refine(({ to, cc, bcc }) => to.length + cc.length + bcc.length <= maxRecipients, {
    path: ['to'],
    message: `may have at most ${maxRecipients} recipients together with cc and bcc`,
  });

export type MailMessage = z.output<typeof mailMessage>;
