import type { Collection } from './collection.ts';

/**
 * Memoizes a function by collection and schema version: a new version is a new object, and the old one's values become
 * garbage. Other arguments to `make` must be the same at each call.
 */
export function perCollection<T, More extends unknown[]>(
  make: (collection: Collection, ...more: More) => T,
): (collection: Collection, ...more: More) => T {
  const made = new WeakMap<Collection, T>();
  return (collection, ...more) => {
    let value = made.get(collection);
    if (value === undefined) {
      value = make(collection, ...more);
      made.set(collection, value);
    }
    return value;
  };
}
