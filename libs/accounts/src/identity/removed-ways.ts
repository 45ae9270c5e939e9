import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';

/** What a change may remove from an account. */
export const removable = z.enum(['password', 'totp', 'links']);
export type Removable = z.infer<typeof removable>;

/** What was removed from an account, and the removed links' providers. */
export interface RemovedWays {
  readonly removed: readonly Removable[];
  readonly providers: readonly string[];
}

/** The account, and the address for the mail about it. */
interface Holder {
  readonly id: string;
  readonly email: string;
  /** Whether the address is proved. */
  readonly verified: boolean;
}

/**
 * Records that ways into an account were removed, in the same transaction. The auth service then sends a mail to the
 * holder (identity §2.5). A trigger records address and password changes (`system.account_changed`).
 */
export async function noteRemovedWays(
  query: Query,
  collection: Collection,
  { id, email, verified }: Holder,
  ways: RemovedWays,
): Promise<void> {
  await query({
    text: `insert into system.account_changes (collection_id, account_id, kind, email, data)
      values ($1, $2, 'removed', $3, $4)`,
    values: [collection.id, id, email, JSON.stringify({ ...ways, isProved: verified })],
  });
}
