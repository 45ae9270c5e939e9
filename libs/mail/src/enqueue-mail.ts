import type { Query } from '@recordbus/database';
import { currentCaller } from '@recordbus/request/request-scope';
import type { Mail, MailSubject, MailTemplate } from './mail.ts';
import { loggedColumns } from './mail-log.ts';

/**
 * How far apart the turns for a client's waiting mails are, in seconds. They delay no mail that is alone: another
 * client's mail only goes before all but the first.
 */
const turnSec = 60;

/** How much earlier than its request an admin's mail takes its turn, in seconds: before everyone else's. */
const adminAheadSec = 24 * 3600;

/** The longest time that a mail is tried, in seconds (mail §3.3). */
const maxUsefulForSec = 24 * 3600;

/**
 * Adds a mail to the queue and to the log, in `query`'s transaction if there is one (mail §3.1). Call
 * `bus.notify('mail')` after the commit to send it at once; otherwise it is sent within seconds.
 */
export async function enqueueMail(query: Query, mail: Mail): Promise<void> {
  const { template, to, usefulForSec, about, ...variables } = mail;
  await insertMails(query, { template, recipients: [to], variables, usefulForSec, about });
}

/**
 * SQL: when the next turn of a client or an address is; null if none of its mails waits. In the index's order: a maximum with
 * its condition would read all other clients' mails where PostgreSQL expects few clients.
 */
const nextTurnOf = (column: 'client' | 'address', value: string): string => `(
            select case when ${column} = ${value} then turn_at + interval '${turnSec} seconds' end from (
              select ${column}, turn_at from system.mail_queue where ${column} <= ${value}
              order by ${column} desc, turn_at desc limit 1
            ) as last
          )`;

interface NewMails {
  readonly template: MailTemplate;
  readonly recipients: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly usefulForSec: number;
  readonly about: MailSubject | undefined;
  /** What a message says. */
  readonly contentId?: string;
}

/** Adds a mail for each recipient to the queue and to the log. */
export async function insertMails(query: Query, mails: NewMails): Promise<void> {
  const { template, recipients, variables, usefulForSec, about, contentId } = mails;
  const { name, address, rank } = currentCaller();
  await query({
    name: 'mail.enqueue',
    text: `with turn as (
        select greatest(
          now() - make_interval(secs => $7::integer),
          ${nextTurnOf('client', '$5')},
          case when $7 = 0 then ${nextTurnOf('address', '$6')} end
        ) as at
      ), queued as (
        insert into system.mail_queue
          (template, recipient, variables, expires_at, client, address, turn_at, collection_id, record_id, content_id)
        select $1, r.recipient, $3, now() + make_interval(secs => $4), $5, $6,
          turn.at + (r.place - 1) * interval '${turnSec} seconds', $8, $9, $10
        from turn, unnest($2::text[]) with ordinality r (recipient, place)
        returning ${loggedColumns}
      )
      insert into system.mails (${loggedColumns}) select ${loggedColumns} from queued`,
    values: [
      template,
      recipients,
      JSON.stringify(variables),
      Math.min(usefulForSec, maxUsefulForSec),
      name,
      address,
      rank === 'admin' ? adminAheadSec : 0,
      about?.collectionId ?? null,
      about?.recordId ?? null,
      contentId ?? null,
    ],
  });
}
