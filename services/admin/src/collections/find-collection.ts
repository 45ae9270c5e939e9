import type { Collection } from '@recordbus/schema';
import { notFound } from '@recordbus/shared/errors';

/** The collection with this id or, in the very same case, this name. Throws 404. */
export function getCollection(collections: readonly Collection[], idOrName: string): Collection {
  const found = collections.find(({ id, name }) => id === idOrName || name === idOrName);
  if (!found) throw notFound('collection');
  return found;
}

/** Another collection than `except` whose name is the same without case. */
export const findByFoldedName = (
  collections: readonly Collection[],
  name: string,
  except?: Collection,
): Collection | undefined =>
  collections.find((other) => other.id !== except?.id && other.name.toLowerCase() === name.toLowerCase());
