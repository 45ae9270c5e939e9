import type { Collection } from '@recordbus/schema';

/** Where a rule of a collection is, among the given collections: what its names mean. */
export const originOf = (collection: Collection, collections: readonly Collection[]) => ({
  collection,
  schema: { findCollection: (name: string) => collections.find((other) => other.name === name) },
  accounts: collections.filter(({ type }) => type === 'auth'),
});
