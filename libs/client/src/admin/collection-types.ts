/** A field definition (fields §1). */
export interface FieldDefinition {
  readonly id?: string;
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
  /** The target's name; relations only. */
  readonly collection?: string;
  readonly view_rule?: string | null;
  readonly write_rule?: string | null;
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
  /** Whether every auth collection has the field. */
  readonly system?: boolean;
}

/** A collection's rules: null admits everyone, `""` admins, an expression the callers for whom it holds. */
interface CollectionRules {
  readonly list_rule: string | null;
  readonly view_rule: string | null;
  readonly create_rule: string | null;
  readonly update_rule: string | null;
  readonly delete_rule: string | null;
  /** Which accounts may sign in: null admits all, `""` none. Only auth collections have it. */
  readonly sign_in_rule?: string | null;
  /** Which records' events go to webhooks with an owner. Left out or `""`, none. */
  readonly webhook_rule?: string;
}

/** A collection as the API shows it, with its fields as a list. */
export interface CollectionDefinition extends CollectionRules {
  readonly id: string;
  readonly name: string;
  readonly type: 'base' | 'auth' | 'view';
  readonly fields: readonly FieldDefinition[];
  readonly view_query: string | null;
  /** A second name, by which links from another system find the collection. */
  readonly alias?: string;
  readonly history_enabled: boolean;
  /** Whether writes wait for the disk. */
  readonly durability: 'full' | 'relaxed';
  /** How old the sign-in of a user who writes may be, in seconds. Left out without a bound. */
  readonly fresh_s?: number | null;
  /** How long records stay, counted from a date field, `created` or `updated`; left out, for ever. Null removes it. */
  readonly retain?: { readonly days: number; readonly field?: string; readonly action?: 'delete' | 'redact' } | null;
  /** Which versions stay: older ones than `days`, and more than `versions` of a record, go. Null removes it. */
  readonly history_keep?: { readonly days?: number; readonly versions?: number } | null;
  readonly created_at: number;
  readonly updated_at: number;
  /** The definition's version, for a change's `ifMatch`. */
  readonly etag: string;
  /** What the rules may let guests do, with some record. */
  readonly guests: readonly ('list' | 'view' | 'create' | 'update' | 'delete')[];
  /** Sentences about a change, such as values that are lost. */
  readonly warnings?: readonly string[];
}

/** The values to create or change a collection. */
export type CollectionValues = Partial<
  Omit<CollectionDefinition, 'id' | 'created_at' | 'updated_at' | 'etag' | 'guests' | 'warnings'>
>;

/** A rule to try instead of the collection's own. */
export interface RuleTrial {
  readonly action: 'list' | 'view' | 'create' | 'update' | 'delete' | 'sign_in';
  readonly rule: string | null;
  /** The user; null for a guest. */
  readonly caller?: { readonly collection: string; readonly id: string } | null;
  /** The record to view, update or delete, or the account that signs in. */
  readonly id?: string;
  /** A create's or update's body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** How a request would be answered. */
export interface RuleVerdict {
  readonly admitted: boolean;
  readonly reason: string | null;
  /** The records that the caller would read, at most 10. */
  readonly records: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[] | null;
  readonly total: number | null;
}

/** A view's fields and rows. */
export interface ViewPreview {
  readonly fields: readonly FieldDefinition[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A field, or a path into a JSON field, that a search index searches. */
export interface SearchedField {
  readonly field: string;
  /** How much its words count: `A` most, `D` least. */
  readonly weight?: 'A' | 'B' | 'C' | 'D';
}

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
  /** A search index's state. */
  readonly state?: 'building' | 'ready';
  readonly system?: boolean;
}

/** All collection definitions. */
export interface SchemaSnapshot {
  readonly version: number;
  readonly generated_at: number;
  readonly collections: readonly Readonly<Record<string, unknown>>[];
}

type File = Readonly<Record<string, unknown>>;

/** The schema as files. */
export interface SchemaFiles {
  readonly version: 1;
  readonly collections: readonly File[];
  readonly webhooks?: readonly File[];
  readonly settings?: File;
  readonly migrations?: readonly { readonly name: string; readonly sql: string }[];
}

/** One change in a plan (schema §3.3). */
export interface SchemaChange {
  readonly action: 'create' | 'rename' | 'change' | 'drop' | 'run';
  readonly kind: 'collection' | 'field' | 'index' | 'webhook' | 'setting' | 'migration';
  readonly name: string;
  /** The name before a rename. */
  readonly from?: string;
  readonly changed?: readonly { readonly member: string; readonly before: unknown; readonly after: unknown }[];
  /** Records, or values, that are lost; null when counting them took too long. */
  readonly records?: number | null;
  readonly values?: number | null;
}

/** A lock that an apply takes until it ends. */
export interface SchemaLock {
  readonly collection: string;
  readonly waits: 'writes' | 'reads and writes';
  readonly reasons: readonly string[];
  /** Whether every record is written again. */
  readonly rewrites: boolean;
  readonly records: number | null;
}

/** The changes that applying the files would make. */
export interface SchemaPlan {
  /** The current schema's hash, for the apply. */
  readonly hash: string;
  readonly changes: readonly SchemaChange[];
  /** The drops that the apply must allow by name. */
  readonly drops: readonly string[];
  readonly locks: readonly SchemaLock[];
  readonly warnings: readonly string[];
}
