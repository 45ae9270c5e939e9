import { type Cascade, type Collection, type Field, perCollection } from '@recordbus/schema';

/** A relation field that refers to a collection. */
export interface Referrer {
  readonly collection: Collection;
  readonly field: Field;
  readonly cascade: Cascade;
}

/** Finds the relation fields that refer to a collection, its own included. */
export type FindReferrers = (collection: Collection) => readonly Referrer[];

/** Creates the search among the given collections. Results are kept for the collection's schema version. */
export const createReferrers = (all: () => readonly Collection[]): FindReferrers =>
  perCollection((target) =>
    all().flatMap((collection) =>
      collection.fields
        // A view's relation is the relation in the collection that the view reads.
        .filter((field) => collection.type !== 'view' && field.type === 'relation' && field.collection === target.name)
        .map((field) => ({ collection, field, cascade: field.options.cascade as Cascade })),
    ),
  );

/** Whether a delete removes its id from the relation, and keeps the referring record. */
export const clears = (cascade: Cascade): boolean => cascade === 'setNull' || cascade === 'restrictLast';

/** Whether a relation's value, an id or a list, is or contains one of the ids. */
export const refersToOneOf = (value: unknown, ids: ReadonlySet<string>): boolean =>
  [value].flat().some((id) => ids.has(String(id)));
