import type { Cascade, Collection, Field } from '@recordbus/schema';
import { perCollection } from '../sql/prepared.ts';

/** A relation field that points at a collection. */
export interface Referrer {
  readonly collection: Collection;
  readonly field: Field;
  readonly cascade: Cascade;
}

/** Finds the relation fields that point at a collection, its own included. */
export type FindReferrers = (collection: Collection) => readonly Referrer[];

/** Looks among the given collections; the answer is kept as long as the collection's schema version lives. */
export const createReferrers = (all: () => readonly Collection[]): FindReferrers =>
  perCollection((target) =>
    all().flatMap((collection) =>
      collection.fields
        // What a view shows of a relation is the relation of the collection that it reads.
        .filter((field) => collection.type !== 'view' && field.type === 'relation' && field.collection === target.name)
        .map((field) => ({ collection, field, cascade: field.options.cascade as Cascade })),
    ),
  );
