import { type AuditedAction, recordAudit } from '@recordbus/audit';
import { type Database, locks, type Query, takeLock } from '@recordbus/database';
import { type AdminAccount, hasAdmin, insertAdmin } from '../users/admins.ts';

/** A set-up token's key contains its hash. Nothing else from the token is stored. */
const tokenKey = (tokenHash: string) => `setup_token.${tokenHash}`;
const anyTokenKey = 'setup\\_token.%';

/**
 * Every start creates a token. All tokens work until an admin exists, so any replica's log shows a working one. Only
 * the latest are kept, because a service may restart often.
 */
const keptTokens = 10;

/**
 * Adds the first admin and ends every set-up token; returns false when an admin exists. Parallel calls wait for each
 * other.
 */
export const insertFirstAdmin = (
  database: Pick<Database, 'transaction'>,
  admin: AdminAccount,
  nowSec: number,
  author: Pick<AuditedAction, 'context' | 'userAgent'>,
): Promise<boolean> =>
  database.transaction(async (query) => {
    await takeLock(query, locks.firstAdmin);
    if (await hasAdmin(query)) return false;
    await insertAdmin(query, admin, nowSec);
    const { id, email } = admin;
    const target = { type: 'admin', id };
    await recordAudit(query, { ...author, action: 'admins.create', target, details: { email, first: true } });
    await query({ text: 'delete from system.instance where key like $1', values: [anyTokenKey] });
    return true;
  });

/** Adds a set-up token and removes all but the latest ones. */
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

/** Whether the hash belongs to a valid set-up token. */
export async function hasSetupToken(query: Query, tokenHash: string): Promise<boolean> {
  const rows = await query({ text: 'select from system.instance where key = $1', values: [tokenKey(tokenHash)] });
  return rows.length > 0;
}
