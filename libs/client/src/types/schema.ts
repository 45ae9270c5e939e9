/** The types of one collection, as `recordbus types` writes them. */
export interface CollectionTypes {
  /** A record as it is read. */
  readonly record: object;
  /** What a create takes. */
  readonly create: unknown;
  /** What an update takes. */
  readonly update: unknown;
  /**
   * What `expand` can follow, each with the name of the collection that it leads to: `'users'` for one record,
   * `readonly ['tags']` for a list.
   */
  readonly expand: object;
}

/** What a schema must be: the types of each collection by its name. */
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
/** What a create of the collection takes. */
export type CreateOf<S, C extends keyof S> = MemberOf<S, C, 'create'>;
/** What an update of the collection takes. */
export type UpdateOf<S, C extends keyof S> = MemberOf<S, C, 'update'>;
/** What `expand` can follow from the collection. */
export type ExpandOf<S, C extends keyof S> = MemberOf<S, C, 'expand'>;
