export type Members = Readonly<Record<string, unknown>>;

/** A stack's schema as one document (schema §2.1). */
export interface SchemaDocument {
  readonly version: 1;
  readonly collections: readonly Members[];
  readonly webhooks?: readonly Members[];
  readonly settings?: Members;
  readonly migrations: readonly { readonly name: string; readonly sql: string }[];
}

/** A schema's plan, as far as a move reads it (schema §3.3). */
export interface SchemaPlan {
  readonly hash: string;
  readonly changes: readonly unknown[];
}
