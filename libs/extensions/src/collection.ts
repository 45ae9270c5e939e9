/** Field types (fields §3). */
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

/** A collection's field. */
export interface FieldDefinition {
  /** Stays the same when the field is renamed, so a rename keeps the data. */
  readonly id?: string;
  readonly name: string;
  /** A renamed field's former name. A stack that still has it renames the field, which keeps its data. */
  readonly renamedFrom?: string;
  readonly type: (typeof fieldTypeNames)[number];
  readonly required?: boolean;
  /** The type's options. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** A relation's target. */
  readonly collection?: string;
  readonly view_rule?: Rule;
  readonly write_rule?: Rule;
  /** For autodate fields. */
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
}

/** A field, or a path into a JSON field, that a search index searches. */
export interface SearchedField {
  readonly field: string;
  /** How much its words count: `A` most, `D` least. */
  readonly weight?: 'A' | 'B' | 'C' | 'D';
}

/** A collection's index. */
export interface IndexDefinition {
  readonly name: string;
  /** The columns; a search index has `fields` instead. */
  readonly columns?: readonly string[];
  readonly unique?: boolean;
  readonly type?: 'btree' | 'trigram' | 'search';
  /** For search indexes, like the members that follow. */
  readonly fields?: readonly SearchedField[];
  /** A language, or the field that holds it. */
  readonly language?: string | { readonly field: string };
  /** Whether the last word of a search is a prefix. */
  readonly prefix?: boolean;
  /** Whether a word that is not found is taken for a typo. */
  readonly typos?: boolean;
  readonly synonyms?: Readonly<Record<string, readonly string[]>>;
}

/** A collection as a schema file has it (schema §2.2). */
export interface CollectionDefinition {
  /** A UUID, which stays the same when the collection is renamed. */
  readonly id?: string;
  readonly name: string;
  /** A renamed collection's former name. A stack that still has it renames the collection, which keeps its records. */
  readonly renamedFrom?: string;
  readonly type?: 'base' | 'auth' | 'view';
  readonly list_rule?: Rule;
  readonly view_rule?: Rule;
  readonly create_rule?: Rule;
  readonly update_rule?: Rule;
  readonly delete_rule?: Rule;
  /** Which accounts of an auth collection may sign in: null is all, the empty text none. */
  readonly sign_in_rule?: Rule;
  /** Which records' events go to webhooks with an owner: an expression with `@owner.<path>`. Left out, none. */
  readonly webhook_rule?: string;
  readonly history_enabled?: boolean;
  /** A second name, by which links from another system find the collection. */
  readonly alias?: string | null;
  /** Whether writes wait for the disk; `full` by default. */
  readonly durability?: 'full' | 'relaxed';
  /** How old the sign-in of a user who writes may be, in seconds; any age by default. */
  readonly fresh_s?: number | null;
  /** How long records stay, from a date field, `created` (default) or `updated` on; then they are erased, or emptied. */
  readonly retain?: { readonly days: number; readonly field?: string; readonly action?: 'delete' | 'redact' } | null;
  /** Which versions stay: older ones than `days`, and more than `versions` of a record, go. */
  readonly history_keep?: { readonly days?: number; readonly versions?: number } | null;
  /** For views. */
  readonly view_query?: string;
  readonly fields?: readonly FieldDefinition[];
  readonly indexes?: readonly IndexDefinition[];
}

/** Defines a collection. Its schema file exports it as `collection`; the file's name is its name. */
export const defineCollection = (definition: CollectionDefinition): CollectionDefinition => definition;
