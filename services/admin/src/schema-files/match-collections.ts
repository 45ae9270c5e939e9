import type { Collection } from '@recordbus/schema';
import type { CollectionFile } from './schema-document.ts';

/** A file, and the collection of the stack that it describes. */
export interface CollectionPair {
  readonly file: CollectionFile;
  /** Undefined for a new collection. */
  readonly before: Collection | undefined;
}

/**
 * Finds the collection of each file: by its id, or else by its name. If the file has an id, a collection of another
 * type does not match by name (schema §3.2).
 */
export function matchCollections(
  files: readonly CollectionFile[],
  collections: readonly Collection[],
): { readonly pairs: readonly CollectionPair[]; readonly dropped: readonly Collection[] } {
  const byId = new Map(collections.map((collection) => [collection.id, collection]));
  const taken = new Set(files.flatMap(({ id }) => (id !== undefined && byId.has(id) ? [id] : [])));
  const byName = new Map(
    collections.filter(({ id }) => !taken.has(id)).map((collection) => [collection.name, collection]),
  );
  const pairs = files.map((file): CollectionPair => {
    const known = file.id === undefined ? undefined : byId.get(file.id);
    const named = byName.get(file.name);
    const isSame = named && (file.id === undefined || named.type === file.type);
    return { file, before: known ?? (isSame ? named : undefined) };
  });
  const kept = new Set(pairs.map(({ before }) => before?.id));
  return { pairs, dropped: collections.filter(({ id }) => !kept.has(id)) };
}
