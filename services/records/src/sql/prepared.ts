import { createHash } from 'node:crypto';
import type { Statement } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';

/** A statement before its values are known. */
export type Prepared = Pick<Statement, 'name' | 'text'>;

/**
 * A text to be prepared once per connection. Its name comes from the text itself, so a collection that is read again
 * unchanged finds its statements prepared. Only for texts that a client can't multiply at will.
 */
export const prepare = (purpose: string, text: string): Prepared => ({
  name: `${purpose} ${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`,
  text,
});

/**
 * Makes something once per collection and schema version: a new version is a new object, the old one is forgotten.
 * What else `make` takes must be the same each time.
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
