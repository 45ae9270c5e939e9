import { domainToASCII, domainToUnicode } from 'node:url';
import type { MigrationQuery } from './migration-query.ts';

/**
 * Writes the addresses of accounts and admins in their canonical form: composed letters, the domain in lower case and
 * decoded from IDNA's ASCII form. Accounts that are one mailbox by it stay as they are, except the first that takes the
 * form; `doctor` lists the others. So does an address that a new account may not have.
 */
export async function up(query: MigrationQuery): Promise<void> {
  const collections = await query<{ name: string }>("select name from system.collections where type = 'auth'");
  for (const { name } of collections) {
    const table = `records."${name.replaceAll('"', '""')}"`;
    for (const { id, email, canonical } of await changedAddresses(query, table))
      if (await rewrite(query, table, { id, canonical }))
        // The trigger has noted a change of address, whose holder would get a mail.
        await query(
          `delete from system.account_changes
            where account_id = $1 and kind = 'email' and email = $2 and data->>'newEmail' = $3`,
          [id, email, canonical],
        );
  }
  for (const { id, canonical } of await changedAddresses(query, 'system.admins'))
    await rewrite(query, 'system.admins', { id, canonical });
}

interface Stored {
  readonly id: string;
  readonly email: string;
}

async function changedAddresses(query: MigrationQuery, table: string) {
  const stored = await query<Stored>(
    `select id, email from ${table} where email ~ '[^\\x01-\\x7f]' or email ilike '%@%xn--%' order by id`,
  );
  return stored
    .map(({ id, email }) => ({ id, email, canonical: canonicalOf(email) }))
    .filter(({ email, canonical }) => canonical !== email);
}

async function rewrite(query: MigrationQuery, table: string, one: { readonly id: string; readonly canonical: string }) {
  const written = await query(
    `update ${table} t set email = $2 where id = $1
      and not exists (select from ${table} o where lower(o.email) = lower($2) and o.id <> $1) returning 1`,
    [one.id, one.canonical],
  );
  return written.length > 0;
}

/** As in libs/schema/src/mailbox.ts when this migration was written. */
function canonicalOf(email: string): string {
  const [local = '', domain = '', more] = email.split('@');
  const ascii = /^[\p{L}\p{M}\p{N}.。．｡-]+$/u.test(domain) ? domainToASCII(domain) : '';
  const shown = domainToUnicode(ascii);
  if (more !== undefined || ascii === '' || domainToASCII(shown) !== ascii) return email;
  return `${local.normalize('NFC').replaceAll('\u0130', 'I\u0307')}@${shown}`;
}
