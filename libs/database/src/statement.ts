/**
 * One SQL statement. A named statement is prepared and planned once per connection. Use names only for texts from a
 * bounded set, and never one name for two texts.
 */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whether it is a write that checks a rule of a collection, and may cost only what one user may cost (cost §1.6). */
  readonly checksRule?: boolean;
  /**
   * Its longest time, in milliseconds; beyond it 422 `too_expensive`. Has no effect on connections of reads, which have a
   * statement time of their own.
   */
  readonly limitMs?: number;
}

/** Runs one statement and returns its rows. */
export type Query = <R>(statement: Statement) => Promise<R[]>;
