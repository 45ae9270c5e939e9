import type { TranslatedCollection } from '@recordbus/pocketbase/collections';

/** A collection in the order of its records' writing, with the relations that wait for later collections. */
export interface OrderedCollection {
  readonly collection: TranslatedCollection;
  /** Fields whose targets come later: a second pass writes them. */
  readonly deferred: readonly string[];
}

/** Orders collections so that relations find their targets. Relations in a circle wait, optional ones first. */
export function orderCollections(collections: readonly TranslatedCollection[]): OrderedCollection[] {
  const left = new Map(collections.map((collection) => [collection.to.name, collection]));
  const ordered: OrderedCollection[] = [];
  const missing = ({ to }: TranslatedCollection, isStrict: boolean): string[] =>
    to.fields.flatMap(({ name, type, collection: target, required }) =>
      type === 'relation' && target !== undefined && target !== to.name && left.has(target) && (isStrict || required)
        ? [name]
        : [],
    );
  while (left.size > 0) {
    const all = [...left.values()];
    const next =
      all.find((one) => missing(one, true).length === 0) ??
      all.find((one) => missing(one, false).length === 0) ??
      all[0];
    if (!next) break;
    ordered.push({ collection: next, deferred: missing(next, true) });
    left.delete(next.to.name);
  }
  return ordered;
}
