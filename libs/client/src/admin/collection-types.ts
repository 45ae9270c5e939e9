/** The definition of a field (fields §1). */
export interface FieldDefinition {
  readonly id?: string;
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
  /** The name of the target; only of a relation. */
  readonly collection?: string;
  readonly view_rule?: string | null;
  readonly write_rule?: string | null;
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
  /** Whether every auth collection has the field. */
  readonly system?: boolean;
}

/** The rules of a collection: null admits everyone, `""` admins, an expression the callers for whom it holds. */
interface CollectionRules {
  readonly list_rule: string | null;
  readonly view_rule: string | null;
  readonly create_rule: string | null;
  readonly update_rule: string | null;
  readonly delete_rule: string | null;
}

/** A collection as the API shows it, with its fields as a list. */
export interface CollectionDefinition extends CollectionRules {
  readonly id: string;
  readonly name: string;
  readonly type: 'base' | 'auth' | 'view';
  readonly fields: readonly FieldDefinition[];
  readonly view_query: string | null;
  readonly history_enabled: boolean;
  /** Whether writes wait for the disk. */
  readonly durability: 'full' | 'relaxed';
  readonly created_at: number;
  readonly updated_at: number;
  /** The version of the definition, for `ifMatch` of a change. */
  readonly etag: string;
  /** What the rules may let guests do, with some record. */
  readonly guests: readonly ('list' | 'view' | 'create' | 'update' | 'delete')[];
  /** Sentences about a change, such as values that are lost. */
  readonly warnings?: readonly string[];
}

/** The values of a create or a change of a collection. */
export type CollectionValues = Partial<
  Omit<CollectionDefinition, 'id' | 'created_at' | 'updated_at' | 'etag' | 'guests' | 'warnings'>
>;

/** A rule to try in place of the collection's own. */
export interface RuleTrial {
  readonly action: 'list' | 'view' | 'create' | 'update' | 'delete';
  readonly rule: string | null;
  /** The user; null for a guest. */
  readonly caller?: { readonly collection: string; readonly id: string } | null;
  /** The record of a view, an update or a delete. */
  readonly id?: string;
  /** The body of a create or an update. */
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

/** The fields and rows of a view. */
export interface ViewPreview {
  readonly fields: readonly FieldDefinition[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface IndexDefinition {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique?: boolean;
  readonly type?: 'btree' | 'trigram';
  readonly system?: boolean;
}

/** The definitions of all collections. */
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

/** The changes that an apply of the files would make. */
export interface SchemaPlan {
  /** The hash of the current schema, for the apply. */
  readonly hash: string;
  readonly changes: readonly File[];
  /** The drops that the apply must allow by name. */
  readonly drops: readonly string[];
  readonly locks: readonly File[];
  readonly warnings: readonly string[];
}
