import type { Scope } from '../resolve/scope.ts';
import type { Parameters } from './parameters.ts';

/** The statement that an expression is compiled into. */
export interface SqlTarget {
  /** Alias of the row that the expression checks: from a table, or from anything else with the same columns. */
  readonly row: string;
  readonly parameters: Parameters;
  /**
   * Alias of the stored row that `:changed` compares the body with. Without it no row is stored yet, and every value
   * except null is a change (rules §4.3).
   */
  readonly stored?: string;
  /** Collation, quoted, that folds text to lower case; the schema's by default. */
  readonly collation?: string | undefined;
  /**
   * Whether the statement's snapshot has the row in the collection's table, so that the link tables have its links. A
   * row that is about to be written, was deleted or was locked has only its own columns.
   */
  readonly isTable?: boolean;
  /** Within `exists`: the outer record's target. */
  readonly outer?: SqlTarget | undefined;
}

/** The target for a path that begins this many levels outwards. */
export function targetOf({ up }: { readonly up: number }, into: SqlTarget): SqlTarget {
  if (up === 0) return into;
  if (!into.outer) throw new Error('the path leads out of the expression');
  return targetOf({ up: up - 1 }, into.outer);
}

/** Adds the schema's collation to a target without one. */
export const withCollation = ({ schema }: Pick<Scope, 'schema'>, into: SqlTarget): SqlTarget => ({
  ...into,
  collation: into.collation ?? schema.collation,
});

/**
 * PostgreSQL's own Unicode collation: the same case rules on every system, whatever the database's locale. It exists
 * since PostgreSQL 17; on older servers with ICU, `"und-x-icu"` is the closest one (filters §5.7).
 */
export const unicodeCollation = '"pg_c_utf8"';

/**
 * Returns SQL for the text in lower case, by Unicode's simple case mapping. The result is always ordered by code
 * points, as the first collation orders it.
 */
export const lowerSql = (text: string, { collation = unicodeCollation }: Pick<SqlTarget, 'collation'>): string =>
  collation === unicodeCollation
    ? `lower(${text} collate ${collation})`
    : `(lower(${text} collate ${collation}) collate ${byCodePoints})`;

const byCodePoints = '"C"';

/** Names `lowerSql`'s collation again: after a sub-select it would conflict with the columns' collations. */
export const collateLowered = (sql: string, { collation = unicodeCollation }: Pick<SqlTarget, 'collation'>): string =>
  `(${sql} collate ${collation === unicodeCollation ? collation : byCodePoints})`;
