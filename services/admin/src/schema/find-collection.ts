import { notFound } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';

/** Returns the collection with this id or name; names are case-sensitive. Throws 404. */
export function getCollection(collections: readonly Collection[], idOrName: string): Collection {
  const found = collections.find(({ id, name }) => id === idOrName || name === idOrName);
  if (!found) throw notFound('collection');
  return found;
}

/** Finds a collection by name without regard to case, other than `except`. */
export const findByFoldedName = (
  collections: readonly Collection[],
  name: string,
  except?: Collection,
): Collection | undefined =>
  collections.find((other) => other.id !== except?.id && other.name.toLowerCase() === name.toLowerCase());
