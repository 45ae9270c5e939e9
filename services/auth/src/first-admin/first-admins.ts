import { type AuditedAction, recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { type AdminAccount, hasAdmin, insertAdmin } from '../admin-sign-in/admins.ts';

/** A set-up token is known by its hash alone, which is part of the key. */
const tokenKey = (tokenHash: string) => `setup_token.${tokenHash}`;
const anyTokenKey = 'setup\\_token.%';

/**
 * Every start makes a token, and all of them are good until an admin exists: whichever replica's log is read, the
 * token in it works. A service that starts over and over leaves only the latest behind.
 */
const keptTokens = 10;

/**
 * Adds the first admin, for whoever has the set-up token or for the configuration, and ends every set-up token; false
 * when there is an admin already, also one made just now.
 */
export const insertFirstAdmin = (
  database: Pick<Database, 'transaction'>,
  admin: AdminAccount,
  nowSec: number,
  author: Pick<AuditedAction, 'context' | 'userAgent'>,
): Promise<boolean> =>
  database.transaction(async (query) => {
    await query({ text: "select pg_advisory_xact_lock(hashtext('recordbus.first_admin'))", values: [] });
    if (await hasAdmin(query)) return false;
    await insertAdmin(query, admin, nowSec);
    const { id, email } = admin;
    const target = { type: 'admin', id };
    await recordAudit(query, { ...author, action: 'admins.create', target, details: { email, first: true } });
    await query({ text: 'delete from system.instance where key like $1', values: [anyTokenKey] });
    return true;
  });

/** Adds a set-up token; of the older ones the latest stay. */
export async function insertSetupToken(query: Query, tokenHash: string, nowMs: number): Promise<void> {
  await query({
    text: 'insert into system.instance (key, value) values ($1, $2)',
    values: [tokenKey(tokenHash), new Date(nowMs).toISOString()],
  });
  await query({
    text: `delete from system.instance where key like $1 and key not in (
  select key from system.instance where key like $1 order by value desc limit ${keptTokens}
)`,
    values: [anyTokenKey],
  });
}

/** Is this the hash of a set-up token that still works? */
export async function hasSetupToken(query: Query, tokenHash: string): Promise<boolean> {
  const rows = await query({ text: 'select from system.instance where key = $1', values: [tokenKey(tokenHash)] });
  return rows.length > 0;
}
