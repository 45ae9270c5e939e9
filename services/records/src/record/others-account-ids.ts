import { hasAccounts } from '@recordbus/accounts';
import { locks, type Query, takeLocks } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { type Collection, tableOf } from '@recordbus/schema';

/** What a refusal says (records §17.2). */
export const othersId = { id: "is an account's in another collection" };

/**
 * Finds which of a collection's new accounts' ids accounts in `others`, the other auth collections, have: rules compare
 * ids from all of them (rules §5). Every writer that takes an id from a client asks this. Until the transaction ends, no
 * other one takes the ids.
 */
export async function findOthersIds(
  query: Query,
  collection: Collection,
  others: readonly Collection[],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!hasAccounts(collection) || others.length === 0 || ids.length === 0) return new Set();
  await takeLocks(query, locks.accountId, [...new Set(ids)]);
  const found = await query<{ id: string }>({
    text: others.map((one) => `select t.id from ${tableOf(one)} t where t.id = any($1::text[])`).join(' union all '),
    values: [ids],
  });
  return new Set(found.map(({ id }) => id));
}

/** Throws 422 for such an id. */
export async function refuseOthersId(
  query: Query,
  collection: Collection,
  others: readonly Collection[],
  id: string,
): Promise<void> {
  if ((await findOthersIds(query, collection, others, [id])).size > 0) throw validationFailed(othersId);
}
