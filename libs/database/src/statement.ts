/**
 * One SQL statement. A named one is prepared once per connection and planned once: give a name only to texts that
 * come from a bounded set, and never the same name to two texts.
 */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs one statement and gives its rows. */
export type Query = <R>(statement: Statement) => Promise<R[]>;
