import type { Query } from '@recordbus/database';
import type { Mail } from './mail.ts';

/** The longest time that a mail is tried, in seconds (mail §3.3). */
const maxUsefulForSec = 24 * 3600;

/**
 * Adds a mail to the queue, in the transaction of `query` if there is one (mail §3.1). Call `bus.notify('mail')` after
 * the commit to send it at once; otherwise it is sent within seconds.
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
