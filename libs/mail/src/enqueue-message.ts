import type { ValueCipher } from '@recordbus/crypto';
import { newId, type Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import { insertMails } from './enqueue-mail.ts';
import type { MailSubject } from './mail.ts';
import { contentText, type Message, recipientsOf } from './message.ts';

/** How many bytes of contents may wait. A mail server that is away for long must not fill the disk. */
const maxWaitingBytes = 256 * 2 ** 20;

/** How long a message is tried, in seconds. */
const usefulForSec = 24 * 3600;

interface MessageDeps {
  readonly query: Query;
  /** Encrypts the content while it waits. */
  readonly cipher: Pick<ValueCipher, 'encrypt'>;
}

/**
 * Adds a message to the queue and to the log, once for each recipient, in `query`'s transaction if there is one. Each is
 * sent and retried by itself. Throws 503 while too much waits.
 */
export async function enqueueMessage(
  { query, cipher }: MessageDeps,
  message: Message,
  about: MailSubject | undefined,
): Promise<void> {
  const { bcc: _recipientsOnly, ...content } = message;
  const text = cipher.encrypt(contentText(content));
  const id = newId();
  const rows = await query({
    name: 'mail.content',
    text: `insert into system.mail_contents (id, content, bytes)
      select $1, $2, $3::integer where (
          select coalesce(sum(bytes), 0) from system.mail_bytes where kind = 'mail_contents'
        ) + $3::integer <= ${maxWaitingBytes}
      returning 1`,
    values: [id, text, text.length],
  });
  if (rows.length === 0) throw new AppError(503, 'mail_queue_full', 'too many mails are waiting for the mail server');
  await insertMails(query, {
    template: 'message',
    recipients: recipientsOf(message),
    variables: {},
    usefulForSec,
    about,
    contentId: id,
  });
}
