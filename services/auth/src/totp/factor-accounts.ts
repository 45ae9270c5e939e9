import { type Collection, tableOf } from '@recordbus/schema';

/** The accounts that may have a second factor: the users of a collection, or the admins. */
export interface FactorAccounts {
  /** Their realm in counts and tokens: the id of the collection, or `adminRealm`. */
  readonly realm: string;
  /** Their table as SQL. */
  readonly table: string;
}

/** The realm of admins; no collection has this id. */
export const adminRealm = 'admins';

/** The admins. */
export const adminAccounts: FactorAccounts = { realm: adminRealm, table: 'system.admins' };

/** The users of a collection. */
export const usersOf = (collection: Collection): FactorAccounts => ({
  realm: collection.id,
  table: tableOf(collection),
});
