import type { Query } from '@recordbus/database';
import type { UserChange } from './change-user.ts';
import type { User } from './user.ts';

/**
 * What becomes of an unverified account when someone proves that its address is theirs (a password reset, a one-time
 * code): whoever made the account may have been somebody else, so the ways in that they left behind are closed
 * (contract §4, pre-hijacking). To be called in the transaction that makes the change. Whatever else opens an account
 * without its password is removed here.
 */
export async function proveAddress(query: Query, { id }: User): Promise<UserChange> {
  for (const table of ['one_time_tokens', 'recovery_codes', 'oauth_links'])
    await query({ text: `delete from system.${table} where account_id = $1`, values: [id] });
  return { verified: true, passwordHash: null, endsSessions: true, dropsTotp: true };
}
