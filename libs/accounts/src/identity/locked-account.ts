import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/** An account's state before its identity changes. */
export interface LockedAccount {
  /** Whether its address is proved. */
  readonly verified: boolean;
  /** Whether this or an earlier address was ever proved: then the second factor stays (identity §2.4). */
  readonly wasEverProved: boolean;
  readonly hasPassword: boolean;
  readonly totpEnabled: boolean;
}

/**
 * Reads an account and locks its row for the rest of the transaction; undefined when it does not exist. Every identity
 * change takes this lock before its tokens, so parallel changes wait for each other and never deadlock.
 */
export async function lockAccount(
  query: Query,
  collection: Collection,
  id: string,
): Promise<LockedAccount | undefined> {
  const [account] = await query<LockedAccount>({
    text: `select t.verified, t.verified or exists (
        select from system.once_proved_accounts p where p.account_id = t.id
      ) as "wasEverProved", t.password_hash is not null as "hasPassword", t.totp_enabled as "totpEnabled"
      from ${tableOf(collection)} t where t.id = $1::text for update`,
    values: [id],
  });
  return account;
}
