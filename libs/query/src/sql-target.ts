import type { Parameters } from './parameters.ts';
import type { Scope } from './scope.ts';

/** The statement that an expression is compiled into. */
export interface SqlTarget {
  /** Alias of the row that the expression checks: of a table, or of anything else with the same columns. */
  readonly row: string;
  readonly parameters: Parameters;
  /**
   * Alias of the stored row that `:changed` compares the body with. Without one no row is stored yet, and every value
   * but null is a change (rules §4.3).
   */
  readonly stored?: string;
  /** Collation, quoted, that folds text to lower case; the schema's by default. */
  readonly collation?: string | undefined;
}

/** Adds the collation of the schema to a target without one. */
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
    : `(lower(${text} collate ${collation}) collate "C")`;
