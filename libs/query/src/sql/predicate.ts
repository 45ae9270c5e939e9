/** An SQL condition; `isCertain` when it is never null. */
export interface Predicate {
  readonly sql: string;
  readonly isCertain: boolean;
}

/** A condition that is never null. */
export const certain = (sql: string): Predicate => ({ sql, isCertain: true });

/** A condition that is null, which counts as false, where one of its values is. */
export const nullable = (sql: string): Predicate => ({ sql, isCertain: false });

/** Holds where the condition does not hold or is null. */
export const not = ({ sql, isCertain }: Predicate): Predicate =>
  certain(isCertain ? `not ${sql}` : `(${sql}) is not true`);

/** Holds where both do. */
export const and = (a: Predicate, b: Predicate): Predicate => ({
  sql: `(${a.sql} and ${b.sql})`,
  isCertain: a.isCertain && b.isCertain,
});

/** Holds where at least one does. */
export const or = (a: Predicate, b: Predicate): Predicate => ({
  sql: `(${a.sql} or ${b.sql})`,
  isCertain: a.isCertain && b.isCertain,
});
