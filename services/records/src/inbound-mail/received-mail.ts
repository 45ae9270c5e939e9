import { AppError } from '@recordbus/errors';
import type { IncomingAttachment, MailAddress } from '@recordbus/extensions';
import type { ReceivedMail } from '../extensions/jobs/stored-mail.ts';
import { originalNameOf } from '../files/original-name.ts';

/** A mail's parts as a provider or a parser gives them, of any size. */
export interface MailParts {
  readonly messageId: string | null | undefined;
  readonly inReplyTo: string | null | undefined;
  readonly references: string | null | undefined;
  readonly from: MailAddress | undefined;
  readonly replyTo: readonly MailAddress[];
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly subject: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly PartAttachment[];
}

/** An attachment, with all of its bytes. */
export interface PartAttachment {
  readonly name: string | null;
  readonly type: string;
  readonly content: Uint8Array;
  readonly contentId: string | null;
}

interface Receipt {
  readonly provider: ReceivedMail['provider'];
  readonly recipients: readonly string[];
}

/** Characters in the text and in the HTML. */
const maxText = 2 ** 20;
const maxSubject = 998;
/** Characters in all headers together. */
const maxHeaderText = 2 ** 18;
const maxAddresses = 200;
const maxReferences = 100;
const maxAttachments = 100;
/** Bytes in all attachments together, as for mails that are sent (mail §5.4). */
const maxAttachedBytes = 10 * 2 ** 20;

const messageIds = /<[^<>\s]{1,996}>/g;

/**
 * Makes the mail for the hooks: bounded, and of well-formed texts without NUL. Throws 422 for a mail with more than a hundred
 * attachments.
 */
export function receivedMail(parts: MailParts, { provider, recipients }: Receipt): ReceivedMail {
  if (parts.attachments.length > maxAttachments) throw unreadable(`it has more than ${maxAttachments} attachments`);
  const headers = leading(parts.headers, maxHeaderText);
  const attachments = boundAttachments(parts.attachments);
  const isCut = [parts.text, parts.html].some((text) => (text?.length ?? 0) > maxText);
  return {
    provider,
    message_id: idsIn(parts.messageId)[0] ?? null,
    in_reply_to: idsIn(parts.inReplyTo)[0] ?? null,
    references: idsIn(parts.references),
    from: parts.from ? addressOf(parts.from) : null,
    reply_to: addressesOf(parts.replyTo),
    to: addressesOf(parts.to),
    cc: addressesOf(parts.cc),
    recipients: recipients.slice(0, maxAddresses).map((one) => clean(one, maxSubject)),
    subject: clean(parts.subject ?? '', maxSubject),
    text: textOf(parts.text),
    html: textOf(parts.html),
    headers,
    attachments,
    incomplete: isCut || headers.length < parts.headers.length || attachments.some(({ content }) => content === null),
  };
}

/** 422: the mail cannot be handed over. */
export const unreadable = (why: string): AppError =>
  new AppError(422, 'mail_not_readable', `the mail cannot be read: ${why}`);

/** Cuts a text, and leaves out what JSON and PostgreSQL refuse. */
const clean = (text: string, max: number): string => text.slice(0, max).toWellFormed().replaceAll('\0', '');

const textOf = (text: string | undefined): string | null => (text ? clean(text, maxText) : null);

const idsIn = (text: string | null | undefined): string[] =>
  (clean(text ?? '', maxHeaderText).match(messageIds) ?? []).slice(-maxReferences);

const addressOf = ({ name, address }: MailAddress): MailAddress => ({
  name: clean(name, maxSubject),
  address: clean(address, maxSubject),
});

const addressesOf = (list: readonly MailAddress[]): MailAddress[] =>
  list
    .slice(0, maxAddresses)
    .map(addressOf)
    .filter(({ address }) => address !== '');

/** The headers that fit, from the first. */
function leading(headers: MailParts['headers'], max: number): { name: string; value: string }[] {
  let left = max;
  const fit = headers.findIndex(({ name, value }) => {
    left -= name.length + value.length;
    return left < 0;
  });
  return headers
    .slice(0, fit < 0 ? headers.length : fit)
    .map(({ name, value }) => ({ name: clean(name, max), value: clean(value, max) }));
}

/** The attachments in order; one that does not fit any more has no content. */
function boundAttachments(attachments: readonly PartAttachment[]): IncomingAttachment[] {
  let left = maxAttachedBytes;
  return attachments.map(({ name, type, content, contentId }) => {
    const fits = content.length <= left;
    if (fits) left -= content.length;
    return {
      name: name === null ? null : originalNameOf(name),
      type: /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.exec(type.toLowerCase())?.[0] ?? 'application/octet-stream',
      size: content.length,
      content: fits ? content : null,
      content_id: contentId === null ? null : clean(contentId.replace(/^<|>$/g, ''), maxSubject),
    };
  });
}
