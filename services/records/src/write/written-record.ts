/** A record that was just written. */
export interface WrittenRecord {
  /** The answer's body, `{"data": record}`. */
  readonly body: string;
  /** The version, as in the ETag. */
  readonly version: string;
}
