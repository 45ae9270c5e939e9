import type { ValueCipher } from '@recordbus/crypto';
import { newId, type Query } from '@recordbus/database';
import { AppError, unavailable } from '@recordbus/errors';
import { mailJob } from '@recordbus/extension-host';
import type { RequestContext } from '@recordbus/request/context';
import { enqueueJob } from '../extensions/jobs/enqueue-job.ts';
import { mailText } from '../extensions/jobs/stored-mail.ts';
import type { RunWrite } from '../write/write-unit.ts';
import type { Delivery } from './providers/provider.ts';

interface StoreDeps {
  readonly write: RunWrite;
  readonly cipher: Pick<ValueCipher, 'encrypt'>;
}

/** For whom a mail is, and which request brought it. */
interface Taking {
  /** The extensions with `onMail`. */
  readonly takers: readonly string[];
  readonly context: Pick<RequestContext, 'requestId' | 'traceparent'>;
}

/** How many bytes may wait for the hooks. Providers repeat what was refused. */
const maxWaitingBytes = 256 * 2 ** 20;

/**
 * Stores a mail with a job for each extension that takes mails, in one transaction. A message that was stored before adds
 * nothing. Throws 406 for a token that was used, which no provider repeats, and 503 while too much waits.
 */
export async function storeMail(
  { write, cipher }: StoreDeps,
  { mail, messageKey, token }: Delivery,
  taking: Taking,
): Promise<void> {
  const { provider, message_id } = mail;
  const messageRow = `message ${messageKey}`;
  const tokenRow = token === undefined ? undefined : `token ${token}`;
  await write({ mode: 'transaction' }, async (unit) => {
    const added = await addKeys(unit.query, provider, tokenRow === undefined ? [messageRow] : [messageRow, tokenRow]);
    if (tokenRow !== undefined && !added.has(tokenRow))
      throw new AppError(406, 'mail_repeated', 'the token of this request was used before');
    if (!added.has(messageRow)) return;
    const mailId = await addMail(unit.query, cipher.encrypt(mailText(mail)));
    for (const extension of taking.takers)
      await enqueueJob(unit.query, {
        extension,
        name: mailJob,
        input: JSON.stringify({ provider, message_id }),
        key: undefined,
        priority: 0,
        inSec: undefined,
        atSec: undefined,
        requestId: taking.context.requestId,
        traceparent: taking.context.traceparent ?? null,
        mailId,
      });
    unit.due.add('startJobs');
  });
}

/** Adds what came in, and returns what is new. Another request with the same waits for this one's commit. */
async function addKeys(query: Query, provider: string, keys: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ key: string }>({
    name: 'inbound-mail.keys',
    text: `insert into system.inbound_mail_keys (provider, key) select $1, key from unnest($2::text[]) key
      on conflict do nothing returning key`,
    values: [provider, keys],
  });
  return new Set(rows.map(({ key }) => key));
}

async function addMail(query: Query, content: string): Promise<string> {
  const id = newId();
  const rows = await query({
    name: 'inbound-mail.store',
    text: `insert into system.inbound_mails (id, content, bytes)
      select $1, $2, $3::integer
      where (
          select coalesce(sum(bytes), 0) from system.mail_bytes where kind = 'inbound_mails'
        ) + $3::integer <= ${maxWaitingBytes} returning 1`,
    values: [id, content, content.length],
  });
  if (rows.length === 0) throw unavailable('too many mails that came in are waiting for onMail');
  return id;
}

/** Rows that one statement deletes. */
const atOnce = 10_000;

/** Removes what tells repeated mails, some days after they came in. */
export async function removeOldMailKeys(query: Query, days: number): Promise<void> {
  for (;;) {
    const removed = await query({
      text: `delete from system.inbound_mail_keys where (provider, key) in (
          select provider, key from system.inbound_mail_keys
          where added_at < now() - make_interval(days => $1) limit ${atOnce} for update skip locked
        ) returning 1`,
      values: [days],
    });
    if (removed.length < atOnce) return;
  }
}
