import type { Collection, Problems } from '@recordbus/schema';
import { matchNamed } from './match-named.ts';
import type { CollectionFile } from './schema-document.ts';

/** A file, and the stack's collection that it describes. */
export interface CollectionPair {
  readonly file: CollectionFile;
  /** Undefined for a new collection. */
  readonly before: Collection | undefined;
}

/** Finds each file's collection (schema §3.2). */
export function matchCollections(
  files: readonly CollectionFile[],
  collections: readonly Collection[],
  problems: Pick<Problems, 'add'>,
): { readonly pairs: readonly CollectionPair[]; readonly dropped: readonly Collection[] } {
  const found = matchNamed(files, collections, ({ name }, message) =>
    problems.add(`collections.${name}.renamedFrom`, message),
  );
  const kept = new Set(found);
  return {
    pairs: files.map((file, position) => ({ file, before: found[position] })),
    dropped: collections.filter((collection) => !kept.has(collection)),
  };
}
