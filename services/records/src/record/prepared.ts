import { createHash } from 'node:crypto';
import type { Statement } from '@recordbus/database';
import type { WriteStatement } from '@recordbus/journal';
import type { Collection } from '@recordbus/schema';

/** A statement without its values. */
export type Prepared = Pick<Statement, 'name' | 'text'>;

/**
 * A statement that each connection prepares once. Its name is a hash of the text, so a collection that is reloaded
 * unchanged finds its statements prepared. Only for texts that clients cannot vary at will.
 */
export const prepare = (purpose: string, text: string): Prepared => ({
  name: `${purpose} ${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`,
  text,
});

/** Prepares a statement that writes, with values by name. */
export const prepareWrite = <Given extends object>(
  purpose: string,
  { text, valuesFrom }: WriteStatement<Given>,
): Prepared & Pick<WriteStatement<Given>, 'valuesFrom'> => ({ ...prepare(purpose, text), valuesFrom });

/**
 * Memoizes a function by collection and schema version: a new version is a new object, and values of the old one are
 * garbage. Other arguments of `make` must be the same at each call.
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
