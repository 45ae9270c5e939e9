import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { readStoredMail } from '../extensions/jobs/stored-mail.ts';

/** How many mails are looked at at once, and their bytes together, unless one alone has more. */
const atOnce = 200;
const maxBytesAtOnce = 8 * 2 ** 20;

/**
 * Deletes the mails from accounts' addresses (in lower case) that extensions have not taken, and cancels their jobs. A mail that
 * cannot be decrypted stays. Returns how many there were.
 */
export async function eraseMailsFrom(
  query: Query,
  cipher: Pick<ValueCipher, 'decrypt'>,
  addresses: readonly string[],
): Promise<number> {
  if (addresses.length === 0) return 0;
  const wanted = new Set(addresses);
  let erased = 0;
  let after: string | undefined;
  for (;;) {
    const rows = await query<{ id: string; content: string }>({
      text: `select id, content from (
          select id, content, bytes, sum(bytes) over (order by id) as upto, row_number() over (order by id) as n
          from (
            select id, content, bytes from system.inbound_mails where $1::uuid is null or id > $1 order by id limit ${atOnce}
          ) as next
        ) as summed where upto <= ${maxBytesAtOnce} or n = 1 order by id`,
      values: [after ?? null],
    });
    const last = rows.at(-1);
    if (!last) return erased;
    after = last.id;
    const found = rows.filter(({ content }) => isFrom(cipher.decrypt(content), wanted)).map(({ id }) => id);
    erased += found.length;
    if (found.length > 0) await eraseMails(query, found);
  }
}

function isFrom(text: string | undefined, addresses: ReadonlySet<string>): boolean {
  if (text === undefined) return false;
  const { from, reply_to } = readStoredMail(text).mail;
  return [from, ...reply_to].some((one) => one !== null && addresses.has(one.address.toLowerCase()));
}

async function eraseMails(query: Query, ids: readonly string[]): Promise<void> {
  await query({
    text: `with cancelled as (
        update system.extension_jobs q set input = '{}', error = null, progress_message = null,
          state = case when q.state in ('pending', 'running') then 'cancelled' else q.state end,
          finished_at = coalesce(q.finished_at, clock_timestamp()), lease_until = null, lease_token = null
        where q.mail_id = any($1::uuid[])
      )
      delete from system.inbound_mails where id = any($1::uuid[])`,
    values: [ids],
  });
}
