/** A field's members on which its types depend. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean | undefined;
  readonly collection?: string | undefined;
  readonly view_rule?: string | null | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** A collection's members on which its types depend. */
export interface Definition {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly FieldDefinition[];
}
