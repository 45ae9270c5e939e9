/**
 * One SQL statement. A named statement is prepared and planned once per connection. Use names only for texts from a
 * bounded set, and never one name for two texts.
 */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs one statement and returns its rows. */
export type Query = <R>(statement: Statement) => Promise<R[]>;
