import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import { listed } from '@recordbus/queue';
import type { Settings } from '@recordbus/settings';
import type { CurrentClient } from './current-client.ts';
import { isMailableAddress } from './mailable-address.ts';
import { readContent } from './message.ts';
import { endMail, postponeMail, type QueuedMail, readStoredContent } from './queue.ts';
import { renderMail, renderMessage } from './render-mail.ts';
import { readSendFailure, type SendFailure } from './send-failure.ts';
import type { OutgoingMail } from './smtp-client.ts';

/** The result of an attempt, or of waiting for one (mail §3.7). */
export type MailOutcome = 'sent' | 'postponed' | 'given_up';

interface AttemptDeps {
  readonly query: Query;
  readonly settings: Pick<Settings, 'get' | 'getNamed'>;
  readonly client: CurrentClient;
  /** Decrypts what messages say. */
  readonly cipher: Pick<ValueCipher, 'decrypt'>;
  readonly log: Logger;
  /** Aborts the current send. */
  readonly ending: AbortSignal;
}

/** The backoff by attempt; the last one repeats until the mail expires (mail §3.3). */
const backoffSec = [2, 10, 60, 300, 1800];

/** Sends a leased mail and records the result. Throws when the result cannot be recorded. */
export async function attemptMail(deps: AttemptDeps, mail: QueuedMail): Promise<MailOutcome> {
  const { query, log } = deps;
  const { id, template, recipient: to, attempts } = mail;
  const failure = await trySend(deps, mail);
  const facts = { mail_id: id, template, to, attempt: attempts + 1 };
  if (!failure) {
    await endMail(query, mail, { state: 'sent' });
    log.info(facts, 'mail sent');
    return 'sent';
  }
  if (failure.isFinal) {
    await endMail(query, mail, { state: 'dead', reason: failure.reason });
    log.error({ ...facts, reason: failure.reason }, 'mail given up');
    return 'given_up';
  }
  const delaySec = listed(attempts + 1, backoffSec);
  await postponeMail(query, mail, { delaySec, reason: failure.reason });
  log.warn({ ...facts, reason: failure.reason, retry_in_sec: delaySec }, 'mail postponed');
  return 'postponed';
}

async function trySend(deps: AttemptDeps, mail: QueuedMail): Promise<SendFailure | undefined> {
  const { client, ending } = deps;
  if (!isMailableAddress(mail.recipient)) return { reason: 'no mail can be sent to this address', isFinal: true };
  try {
    const opened = await client.open();
    const outgoing = await compose(deps, mail);
    if (outgoing === 'unreadable')
      return { reason: 'SERVICE_ENCRYPTION_KEY does not fit what the mail says', isFinal: false };
    await opened.send(outgoing, ending);
    return undefined;
  } catch (error) {
    return readSendFailure(error);
  }
}

/** Composes the mail: a template with its variables, or a message. */
async function compose(
  { query, settings, cipher }: AttemptDeps,
  { id, template, recipient, variables, content_id: contentId }: QueuedMail,
): Promise<OutgoingMail | 'unreadable'> {
  if (contentId === null) return { id, recipient, ...renderMail(settings, { template, to: recipient, variables }) };
  const stored = await readStoredContent(query, contentId);
  const text = stored && cipher.decrypt(stored);
  if (!text) return 'unreadable';
  const message = readContent(text);
  return { id, recipient, message, ...renderMessage(settings, message) };
}
