import type { RecordData } from './tools.ts';

/** The types of a collection, as `recordbus types` writes them. */
export interface CollectionTypes {
  readonly record: object;
  readonly create: unknown;
  readonly update: unknown;
}

/** The constraint of `Schema`: the types of each collection by its name. */
export type SchemaOf<S> = { readonly [C in keyof S]: CollectionTypes };

/** A collection without types. */
export interface AnyCollection {
  readonly record: RecordData;
  readonly create: RecordData;
  readonly update: RecordData;
}

/** The schema of an extension without types: any collection, any field. */
export interface AnySchema {
  readonly [collection: string]: AnyCollection;
}

/** The names of the collections of a schema. */
export type CollectionName<S> = keyof S & string;

type MemberOf<T, M extends keyof CollectionTypes> = T extends CollectionTypes ? T[M] : never;

/** A stored record. */
export type RecordOf<T> = MemberOf<T, 'record'>;
/** The values of a create. */
export type CreateOf<T> = MemberOf<T, 'create'>;
/** The values of an update. */
export type UpdateOf<T> = MemberOf<T, 'update'>;
