import type { Collection } from '@recordbus/schema';

/** Returns the scope in which the names in a collection's rule are resolved. */
export const originOf = (collection: Collection, collections: readonly Collection[]) => ({
  collection,
  schema: { findCollection: (name: string) => collections.find((other) => other.name === name) },
  accounts: collections.filter(({ type }) => type === 'auth'),
  // Views have no rows of their own that could own something.
  owners: collections.filter(({ type }) => type !== 'view'),
});
