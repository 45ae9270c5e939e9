import type { Query } from '@recordbus/database';
import type { Mail } from './mail.ts';

/** Longest time that a mail is tried for, in seconds. */
const maxUsefulForSec = 24 * 3600;

/**
 * Puts a mail into the queue, in the caller's transaction if `query` is one's: it is sent if that commits. Nothing is
 * sent here, so it neither takes the mail server's time nor fails with it. Call `bus.notify('mail')` after the commit
 * and it goes out at once; without, within seconds.
 */
export async function enqueueMail(query: Query, mail: Mail): Promise<void> {
  const { template, to, usefulForSec, ...variables } = mail;
  await query({
    name: 'mail.enqueue',
    text: `insert into system.mail_queue (template, recipient, variables, expires_at)
           values ($1, $2, $3, now() + make_interval(secs => $4))`,
    values: [template, to, JSON.stringify(variables), Math.min(usefulForSec, maxUsefulForSec)],
  });
}
