import type { Query } from '@recordbus/database';
import { isFree, queueTable } from '@recordbus/queue';
import type { MailTemplate } from './mail.ts';
import { logFrom, loggedColumns } from './mail-log.ts';

const mails = queueTable({ table: 'system.mail_queue', key: 'id' });

/** A mail that this process may send now. */
export interface QueuedMail {
  readonly id: string;
  readonly template: MailTemplate;
  readonly recipient: string;
  readonly variables: Readonly<Record<string, string>>;
  /** What a message says, in `system.mail_contents`. */
  readonly content_id: string | null;
  /** How many attempts came before this one. */
  readonly attempts: number;
  /** The lease's fence: only its holder may record the result. */
  readonly lease_token: string;
}

/**
 * Takes up to `limit` due mails under leases that last `leaseSec` seconds, in turn by the clients that caused them.
 * Other replicas skip leased mails (mail §3.2).
 */
export const claimMail = (query: Query, limit: number, leaseSec: number): Promise<QueuedMail[]> =>
  query<QueuedMail>({
    name: 'mail.claim',
    text: mails.claim({
      due: `select id as key from system.mail_queue m
        where next_attempt_at <= now() and expires_at > now() and ${isFree('m')}
        order by turn_at limit $1 for update skip locked`,
      leaseSec: '$2',
      returning: 'q.id, q.template, q.recipient, q.variables, q.content_id, q.attempts, q.lease_token',
    }),
    values: [limit, leaseSec],
  });

/** How a mail ended: sent, or given up for a reason. */
export type MailEnd = { readonly state: 'sent' } | { readonly state: 'dead'; readonly reason: string };

/** Deletes a mail and its secrets after it was sent or given up (mail §3.5), and logs its end. */
export async function endMail(query: Query, { id, lease_token }: QueuedMail, end: MailEnd): Promise<void> {
  await query({
    name: 'mail.end',
    text: `with ended as (
        delete from system.mail_queue where ${mails.isHeld} returning ${loggedColumns}, attempts + 1 as attempts
      )
      ${logFrom('ended', { state: '$3', error: '$4' })}`,
    values: [id, lease_token, end.state, end.state === 'dead' ? end.reason : null],
  });
}

/** Puts a mail back for another attempt after `delaySec` seconds, and logs why. */
export async function postponeMail(
  query: Query,
  { id, lease_token }: QueuedMail,
  { delaySec, reason }: { readonly delaySec: number; readonly reason: string },
): Promise<void> {
  await query({
    name: 'mail.postpone',
    text: `with postponed as (
        update system.mail_queue
        set attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => $3),
          lease_until = null, lease_token = null
        where ${mails.isHeld} returning ${loggedColumns}, attempts
      )
      ${logFrom('postponed', { state: "'waiting'", error: '$4' })}`,
    values: [id, lease_token, delaySec, reason],
  });
}

/** A mail that was not sent in time. */
type ExpiredMail = Pick<QueuedMail, 'id' | 'template' | 'recipient' | 'attempts'>;

/** Deletes expired mails, logs their end, and returns them. The log keeps the last attempt's error. */
export const removeExpiredMail = (query: Query): Promise<ExpiredMail[]> =>
  query<ExpiredMail>({
    name: 'mail.expire',
    text: `with expired as (
        delete from system.mail_queue m where expires_at <= now() and ${isFree('m')}
        returning ${loggedColumns}, attempts
      )
      ${logFrom('expired', { state: "'dead'", error: "'not sent in time'", isUntried: true })}
      returning id, template, recipient, attempts`,
    values: [],
  });

/** Reads what a message says, as it is stored. */
export async function readStoredContent(query: Query, contentId: string): Promise<string | undefined> {
  const [row] = await query<{ content: string }>({
    name: 'mail.read content',
    text: 'select content from system.mail_contents where id = $1',
    values: [contentId],
  });
  return row?.content;
}
