/** A record that was just written. */
export interface WrittenRecord {
  /** The body of the answer, `{"data": record}`. */
  readonly body: string;
  /** The version, as in the ETag. */
  readonly version: string;
}
