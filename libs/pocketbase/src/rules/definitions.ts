/** A field as PocketBase defines it, as far as rules need it. */
export interface PocketBaseField {
  readonly name: string;
  readonly type: string;
  readonly hidden?: boolean | undefined;
  readonly required?: boolean | undefined;
  /** For a select, a relation or a file. */
  readonly maxSelect?: number | undefined;
  /** The id of a relation's target. */
  readonly collectionId?: string | undefined;
  /** For a select. */
  readonly values?: readonly string[] | undefined;
  /** For an id. */
  readonly pattern?: string | undefined;
}

/** A collection as PocketBase defines it (`_collections`, or its export), as far as rules need it. */
export interface PocketBaseCollection {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly fields: readonly PocketBaseField[];
}

/** The names that collections and fields have here. Anything that is not listed keeps its name. */
export interface Renames {
  /** By PocketBase's name. */
  readonly collections?: Readonly<Record<string, string>> | undefined;
  /** By PocketBase's collection name, then by PocketBase's field name. */
  readonly fields?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}

/** One PocketBase's collections, found by id or name. */
export interface Directory {
  find(nameOrId: string): PocketBaseCollection | undefined;
  /** The collections whose records sign in as users. */
  readonly accounts: readonly PocketBaseCollection[];
  /** The collection's name here. */
  nameOf(collection: PocketBaseCollection): string;
  /** The field's name here. */
  fieldNameOf(collection: PocketBaseCollection, field: string): string;
}

export const superusers = '_superusers';

/** Makes a directory. PocketBase compares collection names without case. */
export function createDirectory(collections: readonly PocketBaseCollection[], renames: Renames = {}): Directory {
  const byId = new Map(collections.map((collection) => [collection.id, collection]));
  const byName = new Map(collections.map((collection) => [collection.name.toLowerCase(), collection]));
  const named = (names: Readonly<Record<string, string>> | undefined, name: string) =>
    names && Object.hasOwn(names, name) ? (names[name] ?? name) : name;
  return {
    find: (nameOrId) => byId.get(nameOrId) ?? byName.get(nameOrId.toLowerCase()),
    accounts: collections.filter(({ type, name }) => type === 'auth' && name !== superusers),
    nameOf: ({ name }) => named(renames.collections, name),
    fieldNameOf: ({ name }, field) =>
      named(renames.fields && Object.hasOwn(renames.fields, name) ? renames.fields[name] : undefined, field),
  };
}
