/** A record that was just written, as the body of the answer. */
export interface WrittenRecord {
  /** `{"data": record}`. */
  readonly body: string;
  readonly updatedAtSec: number;
}

/** Why nothing was written: there is no such record, the rule does not hold for it, or it is not of a version that the client asked for. */
export type Unwritten =
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'mismatch'; readonly updatedAtSec: number };
