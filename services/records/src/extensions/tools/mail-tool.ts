import type { ValueCipher } from '@recordbus/crypto';
import { newId } from '@recordbus/database';
import { AppError, validationFailed } from '@recordbus/errors';
import { issueSentence } from '@recordbus/errors/issue-sentence';
import { enqueueMessage, isMailConfigured, type MailSubject, messageIdDomain } from '@recordbus/mail';
import type { QuerySchema } from '@recordbus/query';
import type { Settings } from '@recordbus/settings';
import { z } from 'zod';
import { writeIn } from '../call-scope.ts';
import { type AttachmentDeps, readAttachments } from './mail-attachments.ts';
import { type MailMessage, mailMessage } from './mail-message.ts';
import { type Tool, tool } from './tool.ts';

export interface MailDeps extends AttachmentDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly cipher: ValueCipher;
}

const bytes = z.array(z.instanceof(Uint8Array).optional());

/**
 * `mail.send`: adds a mail to the product's own mail queue, in the call's transaction if it has one. Returns the
 * Message-ID as JSON text.
 */
export const mailTools = (deps: MailDeps): Readonly<Record<string, Tool>> => ({
  'mail.send': tool(z.tuple([z.string(), bytes]), async (call, [text, contents]) => {
    if (!isMailConfigured(deps.settings)) throw new AppError(422, 'mail_not_configured', 'mail is not configured');
    const { attachments, as, about, headers, reply_to: replyTo, ...mail } = readMessage(text);
    const subject = about && findSubject(deps.schema, about);
    const read = await readAttachments(deps, call, { attachments, contents, as });
    const { messageId, rest } = takeMessageId(headers, deps.settings);
    await writeIn(call.scope, deps.write)({ mode: 'statement' }, async (unit) => {
      const message = { ...mail, replyTo, headers: rest, messageId, attachments: read };
      await enqueueMessage({ query: unit.query, cipher: deps.cipher }, message, subject);
      unit.due.add('sendMails');
    });
    return JSON.stringify({ message_id: messageId });
  }),
});

function readMessage(text: string): MailMessage {
  const read = mailMessage.safeParse(JSON.parse(text));
  if (read.success) return read.data;
  throw validationFailed(
    Object.fromEntries(read.error.issues.map((issue) => [issue.path.join('.') || 'mail', issueSentence(issue)])),
  );
}

/** Finds the record that the mail is about, for the log. Throws 422 for an unknown collection. */
function findSubject(
  schema: Pick<QuerySchema, 'findCollection'>,
  { collection: name, id }: NonNullable<MailMessage['about']>,
): MailSubject {
  const collection = schema.findCollection(name);
  if (!collection) throw validationFailed({ 'about.collection': 'is not a collection' });
  return { collectionId: collection.id, recordId: id };
}

/** Takes the Message-ID out of the headers, or makes one, so that a thread can name the mail. */
function takeMessageId(
  headers: Readonly<Record<string, string>>,
  settings: Pick<Settings, 'get'>,
): { readonly messageId: string; readonly rest: Readonly<Record<string, string>> } {
  const isId = ([name]: readonly [string, string]) => name.toLowerCase() === 'message-id';
  const entries = Object.entries(headers);
  const [, given] = entries.find(isId) ?? [];
  return {
    messageId: given ?? `<${newId()}@${messageIdDomain(settings.get('smtp.from'))}>`,
    rest: Object.fromEntries(entries.filter((entry) => !isId(entry))),
  };
}
