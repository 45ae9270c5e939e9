/** One collection's types, as `recordbus types` writes them. */
export interface CollectionTypes {
  /** A record that is read. */
  readonly record: object;
  /** A create's values. */
  readonly create: unknown;
  /** An update's values. */
  readonly update: unknown;
  /**
   * The names in `expand`, each with the collection that it leads to: `'users'` for one record, `readonly ['tags']` for
   * a list.
   */
  readonly expand: object;
  /** Its file fields' names. Absent in types written before: then every field may be one. */
  readonly files?: string;
  /** The collection's type. Absent in types written before. */
  readonly type?: 'base' | 'auth' | 'view';
}

/** The constraint on `Schema`: each collection's types by its name. */
export type SchemaOf<S> = { readonly [C in keyof S]: CollectionTypes };

/** A record in a collection without types. */
export interface AnyRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Values to write to a collection without types. */
export interface AnyValues {
  readonly [field: string]: unknown;
}

/** The schema for a client without types: any collection, any field. */
export interface AnySchema {
  readonly [collection: string]: {
    readonly record: AnyRecord;
    readonly create: AnyValues;
    readonly update: AnyValues;
    readonly expand: { readonly [name: string]: string };
  };
}

/** A schema's collection names. */
export type CollectionName<S> = keyof S & string;

type MemberOf<S, C extends keyof S, M extends keyof CollectionTypes> = S[C] extends CollectionTypes ? S[C][M] : never;

/** A collection's record, without expansions. */
export type RecordOf<S, C extends keyof S> = MemberOf<S, C, 'record'>;
/** The values to create a record in the collection. */
export type CreateOf<S, C extends keyof S> = MemberOf<S, C, 'create'>;
/** The values to update a record in the collection. */
export type UpdateOf<S, C extends keyof S> = MemberOf<S, C, 'update'>;
/** The collection's file fields. */
export type FileFieldOf<S, C extends keyof S> = S[C] extends { readonly files: infer F }
  ? F & keyof RecordOf<S, C> & string
  : keyof RecordOf<S, C> & string;
/** A schema's auth collections. */
export type AuthName<S> = {
  [C in CollectionName<S>]: S[C] extends { readonly type: 'base' | 'view' } ? never : C;
}[CollectionName<S>];
/** The names in the collection's `expand`. */
export type ExpandOf<S, C extends keyof S> = MemberOf<S, C, 'expand'>;
