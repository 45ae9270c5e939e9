/** The types of one collection, as `recordbus types` writes them. */
export interface CollectionTypes {
  /** A record that is read. */
  readonly record: object;
  /** The values of a create. */
  readonly create: unknown;
  /** The values of an update. */
  readonly update: unknown;
  /**
   * The names in `expand`, each with the collection that it leads to: `'users'` for one record, `readonly ['tags']` for
   * a list.
   */
  readonly expand: object;
  /** The names of its file fields. Absent in types of before: then every field may be one. */
  readonly files?: string;
  /** The type of the collection. Absent in types of before. */
  readonly type?: 'base' | 'auth' | 'view';
}

/** The constraint of `Schema`: the types of each collection by its name. */
export type SchemaOf<S> = { readonly [C in keyof S]: CollectionTypes };

/** A record of a collection without types. */
export interface AnyRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Values to write to a collection without types. */
export interface AnyValues {
  readonly [field: string]: unknown;
}

/** The schema of a client without types: any collection, any field. */
export interface AnySchema {
  readonly [collection: string]: {
    readonly record: AnyRecord;
    readonly create: AnyValues;
    readonly update: AnyValues;
    readonly expand: { readonly [name: string]: string };
  };
}

/** The names of the collections of a schema. */
export type CollectionName<S> = keyof S & string;

type MemberOf<S, C extends keyof S, M extends keyof CollectionTypes> = S[C] extends CollectionTypes ? S[C][M] : never;

/** A record of a collection, without expansions. */
export type RecordOf<S, C extends keyof S> = MemberOf<S, C, 'record'>;
/** The values of a create in the collection. */
export type CreateOf<S, C extends keyof S> = MemberOf<S, C, 'create'>;
/** The values of an update in the collection. */
export type UpdateOf<S, C extends keyof S> = MemberOf<S, C, 'update'>;
/** The file fields of the collection. */
export type FileFieldOf<S, C extends keyof S> = S[C] extends { readonly files: infer F }
  ? F & keyof RecordOf<S, C> & string
  : keyof RecordOf<S, C> & string;
/** The auth collections of a schema. */
export type AuthName<S> = {
  [C in CollectionName<S>]: S[C] extends { readonly type: 'base' | 'view' } ? never : C;
}[CollectionName<S>];
/** The names in `expand` of the collection. */
export type ExpandOf<S, C extends keyof S> = MemberOf<S, C, 'expand'>;
