import type { RecordData } from './tools.ts';

/** A collection's types, as `recordbus types` writes them. */
export interface CollectionTypes {
  readonly record: object;
  readonly create: unknown;
  readonly update: unknown;
}

/** The constraint on `Schema`: each collection's types by its name. */
export type SchemaOf<S> = { readonly [C in keyof S]: CollectionTypes };

/** A collection without types. */
export interface AnyCollection {
  readonly record: RecordData;
  readonly create: RecordData;
  readonly update: RecordData;
}

/** The schema for an extension without types: any collection, any field. */
export interface AnySchema {
  readonly [collection: string]: AnyCollection;
}

/** A schema's collection names. */
export type CollectionName<S> = keyof S & string;

type MemberOf<T, M extends keyof CollectionTypes> = T extends CollectionTypes ? T[M] : never;

/** A stored record. */
export type RecordOf<T> = MemberOf<T, 'record'>;
/** A create's values. */
export type CreateOf<T> = MemberOf<T, 'create'>;
/** An update's values. */
export type UpdateOf<T> = MemberOf<T, 'update'>;
