import type { Query } from '@recordbus/database';
import { forbidden } from '@recordbus/errors';
import { type Collection, tableOf } from '@recordbus/schema';
import type { User } from './user.ts';

/** Blocks an account; returns false if it is already blocked. */
export async function insertBlock(
  query: Query,
  { accountId, collectionId, nowSec }: { accountId: string; collectionId: string; nowSec: number },
): Promise<boolean> {
  const rows = await query({
    text: `insert into system.blocked_accounts (account_id, collection_id, blocked_at) values ($1, $2, $3)
      on conflict do nothing returning 1`,
    values: [accountId, collectionId, nowSec],
  });
  return rows.length > 0;
}

/** Unblocks an account; returns false if it is not blocked. */
export async function deleteBlock(query: Query, accountId: string): Promise<boolean> {
  const rows = await query({
    text: 'delete from system.blocked_accounts where account_id = $1 returning 1',
    values: [accountId],
  });
  return rows.length > 0;
}

/** Throws 403 for a blocked account (admins §8.4). */
export async function refuseBlocked(query: Query, accountId: string): Promise<void> {
  const rows = await query({
    text: 'select from system.blocked_accounts where account_id = $1',
    values: [accountId],
  });
  if (rows.length > 0) throw forbidden('the account is blocked', 'blocked');
}

/** Ends an account's tokens: a new token version ends its sessions and pending links (`system.account_changed`). */
export async function endTokens(query: Query, collection: Collection, id: string): Promise<void> {
  await query({
    text: `update ${tableOf(collection)} set token_version = token_version + 1 where id = $1`,
    values: [id],
  });
}

/** Replaces a password's hash with another one of the same password: no event, no version. A parallel change wins. */
export async function replaceUserHash(
  query: Query,
  collection: Collection,
  { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>,
  hash: string,
): Promise<void> {
  await query({
    text: `update ${tableOf(collection)} set password_hash = $2 where id = $1 and password_hash = $3`,
    values: [id, hash, passwordHash],
  });
}

/** Uses up the one-time token with this hash. When calls are simultaneous, exactly one returns true. */
export async function finishOneTimeToken(query: Query, tokenHash: string): Promise<boolean> {
  const rows = await query({
    text: 'delete from system.one_time_tokens where token_hash = $1 returning 1',
    values: [tokenHash],
  });
  return rows.length > 0;
}
