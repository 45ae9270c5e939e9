/** The types of fields (fields §3). */
export const fieldTypeNames = [
  'text',
  'number',
  'bool',
  'email',
  'url',
  'date',
  'autodate',
  'select',
  'relation',
  'json',
  'password',
  'editor',
  'geoPoint',
  'vector',
  'file',
] as const;

/** An expression; null is everyone, the empty text admins only. */
type Rule = string | null;

/** A field of a collection. */
export interface FieldDefinition {
  /** Stays the same when the field is renamed, so a rename keeps the data. */
  readonly id?: string;
  readonly name: string;
  /** The former name of a renamed field. A stack that still has it renames the field, which keeps its data. */
  readonly renamedFrom?: string;
  readonly type: (typeof fieldTypeNames)[number];
  readonly required?: boolean;
  /** Options of the type. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The target of a relation. */
  readonly collection?: string;
  readonly view_rule?: Rule;
  readonly write_rule?: Rule;
  /** For autodate fields. */
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
}

/** An index of a collection. */
export interface IndexDefinition {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique?: boolean;
  readonly type?: 'btree' | 'trigram';
}

/** A collection in the form of a schema file (schema §2.2). */
export interface CollectionDefinition {
  /** A UUID, which stays the same when the collection is renamed. */
  readonly id?: string;
  readonly name: string;
  /** The former name of a renamed collection. A stack that still has it renames the collection, which keeps its records. */
  readonly renamedFrom?: string;
  readonly type?: 'base' | 'auth' | 'view';
  readonly list_rule?: Rule;
  readonly view_rule?: Rule;
  readonly create_rule?: Rule;
  readonly update_rule?: Rule;
  readonly delete_rule?: Rule;
  readonly history_enabled?: boolean;
  /** Whether writes wait for the disk; `full` by default. */
  readonly durability?: 'full' | 'relaxed';
  /** For views. */
  readonly view_query?: string;
  readonly fields?: readonly FieldDefinition[];
  readonly indexes?: readonly IndexDefinition[];
}

/** Defines a collection. Its schema file exports it as `collection`; the name of the file is its name. */
export const defineCollection = (definition: CollectionDefinition): CollectionDefinition => definition;
