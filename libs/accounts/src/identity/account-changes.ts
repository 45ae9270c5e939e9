import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';

/** What a change may remove from an account. */
export const removable = z.enum(['password', 'totp', 'links', 'passkeys']);
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

/**
 * Whether the account had proved the notice's address. Rows from an earlier release lack this member and all others
 * that have a default.
 */
const isProved = z.boolean().default(false);

/** The kind of change, which a trigger on the account's table or the changing code wrote. */
const changeKind = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('email'),
    data: z.object({
      isProved,
      newEmail: z.string(),
      /** Whether the old address's undo link stays valid after another address is proved. */
      isUndoable: z.boolean(),
      isUndoableUntilProved: z.boolean().default(false),
    }),
  }),
  z.object({ kind: z.literal('password'), data: z.object({ isProved }) }),
  z.object({
    kind: z.literal('removed'),
    data: z.object({
      isProved,
      removed: z.array(removable),
      providers: z.array(z.string()),
    }),
  }),
]);

const change = z
  .object({
    id: z.string(),
    collectionId: z.string(),
    accountId: z.string(),
    /** The notice's address: the one before the change. */
    email: z.string(),
    changedAtSec: z.int(),
  })
  .and(changeKind);

/** A change that the account's holder is not notified about yet. */
export type AccountChange = z.output<typeof change>;

/** Whether there are changes. Runs without a transaction, because usually there are none. */
export async function hasAccountChanges(query: Query): Promise<boolean> {
  const [row] = await query<{ hasSome: boolean }>({
    name: 'account-change.any',
    text: 'select exists (select from system.account_changes) as "hasSome"',
    values: [],
  });
  return row?.hasSome === true;
}

/**
 * Takes the oldest change from the table, in the transaction that queues its mail; returns undefined when there is
 * none. Replicas wait for each other, so an account's changes are processed in order.
 */
export async function takeAccountChange(query: Query): Promise<AccountChange | undefined> {
  const [row] = await query<Record<string, unknown>>({
    name: 'account-change.take',
    text: `delete from system.account_changes where id = (
        select id from system.account_changes order by id limit 1 for update
      ) returning id::text, collection_id as "collectionId", account_id as "accountId", kind, email, data,
        changed_at as "changedAtSec"`,
    values: [],
  });
  return row && change.parse(row);
}
