import { createHash, createHmac } from 'node:crypto';
import { isSameText } from '@recordbus/crypto/is-same-text';
import { malformed, unsupportedMediaType } from '@recordbus/errors';
import { boundaryOf, createFormParser, type PartHead, readPartText } from '@recordbus/http/form';
import { z } from 'zod';
import type { MailParser } from '../mime/mail-parser.ts';
import { type MailParts, type PartAttachment, receivedMail } from '../received-mail.ts';
import { checkTime, type InboundProvider, notProved, readJson, readText } from './provider.ts';

const maxFields = 1000;
/** Characters in one of the headers that are parsed again. */
const maxHeaderLine = 2 ** 16;

/**
 * Mailgun: a form that its routes post, parsed (`forward("…")`) or raw (`forward("…/mime")` has `body-mime`). The secret signs a
 * time and a token, not the body; so each token counts once (mail §6.3).
 */
export const createMailgun = (parser: Pick<MailParser, 'parse'>): InboundProvider => ({
  maxBytes: 25 * 2 ** 20,
  async read({ body, contentType, secret }) {
    const form = readForm(body, contentType);
    const token = checkSignature(form, secret);
    const parts = form.raw ? await parser.parse(form.raw) : await partsOf(form, parser);
    const recipient = form.texts.get('recipient') ?? '';
    const recipients = recipient.split(',').map((one) => one.trim());
    const mail = receivedMail(parts, { provider: 'mailgun', recipients: recipients.filter((one) => one !== '') });
    // Each recipient's mail is a request of its own.
    const key = mail.message_id === null ? `token ${token}` : `${mail.message_id} ${recipient}`;
    return { mail, messageKey: createHash('sha256').update(key).digest('hex'), token };
  },
});

interface Form {
  readonly texts: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, PartAttachment>;
  /** The whole mail, from a route that forwards it raw. */
  readonly raw?: Uint8Array | undefined;
}

/** Reads a form of either encoding. Throws 400 for a broken one, 415 for another body. */
function readForm(body: Buffer, contentType: string): Form {
  if (/^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType)) {
    const text = readText(body);
    if (text.split('&', maxFields + 1).length > maxFields) throw tooManyFields();
    const texts = new Map(new URLSearchParams(text));
    const raw = texts.get('body-mime');
    return { texts, files: new Map(), ...(raw !== undefined && { raw: Buffer.from(raw) }) };
  }
  const boundary = /^\s*multipart\/form-data\s*(;|$)/i.test(contentType) ? boundaryOf(contentType) : undefined;
  if (boundary === undefined) throw unsupportedMediaType('multipart/form-data or application/x-www-form-urlencoded');
  return readParts(body, boundary);
}

function readParts(body: Buffer, boundary: string): Form {
  const texts = new Map<string, string>();
  const files = new Map<string, PartAttachment>();
  let raw: Buffer | undefined;
  let head: PartHead | undefined;
  let pieces: Buffer[] = [];
  const parser = createFormParser(boundary, {
    begin(begun) {
      if (texts.size + files.size >= maxFields) throw tooManyFields();
      head = begun;
      pieces = [];
    },
    data: (bytes) => pieces.push(bytes),
    end() {
      if (!head) return;
      const bytes = Buffer.concat(pieces);
      if (head.name === 'body-mime') raw = bytes;
      else if (head.filename === undefined) texts.set(head.name, readPartText(bytes, head));
      else files.set(head.name, { name: head.filename ?? null, type: head.type, content: bytes, contentId: null });
    },
  });
  parser.write(body);
  parser.end();
  return { texts, files, raw };
}

const tooManyFields = () => malformed(`the form has more than ${maxFields} fields`);

/** Returns the token. Throws 401 unless the secret has signed it, recently. */
function checkSignature({ texts }: Form, secret: string): string {
  const [timestamp = '', token = '', signature = ''] = ['timestamp', 'token', 'signature'].map((name) =>
    texts.get(name),
  );
  const expected = createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex');
  if (
    !isSameText(signature.toLowerCase(), expected) ||
    !/^\d{1,12}$/.test(timestamp) ||
    !/^[\x21-\x7e]{1,200}$/.test(token)
  )
    throw notProved('mail.inbound.mailgun.secret has not signed this request');
  checkTime(Number(timestamp));
  return token;
}

const headerList = z.array(z.tuple([z.string(), z.string()]).rest(z.unknown()));
const contentIds = z.record(z.string(), z.string());

/** A form that Mailgun has parsed. Its headers are parsed again, for the addresses. */
async function partsOf({ texts, files }: Form, parser: Pick<MailParser, 'parse'>): Promise<MailParts> {
  const list = headerList.safeParse(readJson(texts.get('message-headers') ?? '[]', 'message-headers'));
  if (!list.success) throw malformed('message-headers is not a list of names and values');
  const headers = list.data.map(([name, value]) => ({ name, value }));
  const read = await parser.parse(Buffer.from(headerText(headers, texts)));
  const idsOf = contentIds.safeParse(readJson(texts.get('content-id-map') ?? '{}', 'content-id-map'));
  const idOf = new Map(Object.entries(idsOf.data ?? {}).map(([id, field]) => [field, id]));
  return {
    ...read,
    headers,
    text: texts.get('body-plain'),
    html: texts.get('body-html'),
    attachments: [...files]
      .filter(([name]) => /^attachment-\d+$/.test(name))
      .map(([name, file]) => ({ ...file, contentId: idOf.get(name) ?? null })),
  };
}

const parsedAgain = ['from', 'to', 'cc', 'reply-to', 'message-id', 'in-reply-to', 'references', 'subject'];

/** The headers of which the product reads values, as the head of a mail. Without a list of headers, those that the form has. */
function headerText(headers: MailParts['headers'], texts: Form['texts']): string {
  const given =
    headers.length > 0
      ? headers
      : ['From', 'To', 'Subject', 'Message-Id'].map((name) => ({
          name,
          value: texts.get(name) ?? texts.get(name.toLowerCase()) ?? '',
        }));
  const lines = given
    .filter(
      ({ name, value }) => parsedAgain.includes(name.toLowerCase()) && value !== '' && value.length <= maxHeaderLine,
    )
    .map(({ name, value }) => `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
