import { hasAccounts } from '@recordbus/accounts';
import type { Collection } from '@recordbus/schema';
import type { Call } from '../rules/rule-context.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { CascadeSet } from './cascade-set.ts';

/** The account that a caller deletes. */
export interface OwnAccount {
  readonly collection: Collection;
  readonly id: string;
}

/**
 * Runs a user's delete of their own account as an erasure (privacy §2.8): its job commits with the delete. The unit is a
 * transaction. Returns what `remove` returns; without a delete there is no erasure.
 */
export type EraseOwnAccount = <T extends { readonly outcome: string }>(
  unit: WriteUnit,
  account: OwnAccount,
  call: Call,
  remove: () => Promise<T>,
) => Promise<T>;

/** Whether a record is the caller's own account. */
export const isOwnAccount = ({ collection, id }: OwnAccount, { principal }: Pick<Call, 'principal'>): boolean =>
  principal.type === 'user' &&
  principal.id === id &&
  principal.collection === collection.name &&
  hasAccounts(collection);

/** The caller's own account among the records that a delete takes along. */
export function ownAccountIn(cascadeSet: CascadeSet, call: Pick<Call, 'principal'>): OwnAccount | undefined {
  const { id } = call.principal.type === 'user' ? call.principal : { id: undefined };
  if (id === undefined) return undefined;
  for (const [collection, ids] of cascadeSet)
    if (ids.has(id) && isOwnAccount({ collection, id }, call)) return { collection, id };
  return undefined;
}
