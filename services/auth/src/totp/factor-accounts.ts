import { type Collection, tableOf } from '@recordbus/schema';

/** The accounts that may have a second factor: a collection's users, or the admins. */
export interface FactorAccounts {
  /** Their realm in counts and tokens: the collection's id, or `adminRealm`. */
  readonly realm: string;
  /** Their table as SQL. */
  readonly table: string;
}

/** The admins' realm; no collection has this id. */
export const adminRealm = 'admins';

/** The admins. */
export const adminAccounts: FactorAccounts = { realm: adminRealm, table: 'system.admins' };

/** A collection's users. */
export const usersOf = (collection: Collection): FactorAccounts => ({
  realm: collection.id,
  table: tableOf(collection),
});
