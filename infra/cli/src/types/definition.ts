/** A field of a collection, as far as its types depend on it. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean | undefined;
  readonly collection?: string | undefined;
  readonly view_rule?: string | null | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** A collection, as far as its types depend on it. */
export interface Definition {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly FieldDefinition[];
}
