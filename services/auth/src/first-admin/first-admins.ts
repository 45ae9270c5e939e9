import { type AuditedAction, recordAudit } from '@recordbus/audit';
import { type Database, queryOf, type SystemTables } from '@recordbus/database';
import { type Kysely, sql } from 'kysely';
import { type AdminAccount, hasAdmin, insertAdmin } from '../admin-sign-in/admins.ts';

type Executor = Kysely<SystemTables>;

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
  { system }: Database,
  admin: AdminAccount,
  nowSec: number,
  author: Pick<AuditedAction, 'context' | 'userAgent'>,
): Promise<boolean> =>
  system.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('recordbus.first_admin'))`.execute(tx);
    if (await hasAdmin(tx)) return false;
    await insertAdmin(tx, admin, nowSec);
    const { id, email } = admin;
    const target = { type: 'admin', id };
    await recordAudit(queryOf(tx), { ...author, action: 'admins.create', target, details: { email, first: true } });
    await tx.deleteFrom('instance').where('key', 'like', anyTokenKey).execute();
    return true;
  });

/** Adds a set-up token; of the older ones the latest stay. */
export async function insertSetupToken(db: Executor, tokenHash: string, nowMs: number): Promise<void> {
  const key = tokenKey(tokenHash);
  await db
    .insertInto('instance')
    .values({ key, value: new Date(nowMs).toISOString() })
    .execute();
  const latest = db
    .selectFrom('instance')
    .select('key')
    .where('key', 'like', anyTokenKey)
    .orderBy('value', 'desc')
    .limit(keptTokens);
  await db.deleteFrom('instance').where('key', 'like', anyTokenKey).where('key', 'not in', latest).execute();
}

/** Is this the hash of a set-up token that still works? */
export async function hasSetupToken(db: Executor, tokenHash: string): Promise<boolean> {
  const row = await db.selectFrom('instance').select('key').where('key', '=', tokenKey(tokenHash)).executeTakeFirst();
  return row !== undefined;
}
