import type { Parameters } from './parameters.ts';

/** Where in a statement an expression is to stand. */
export interface Place {
  /** Alias of the row that the expression is about: of a table, or of anything else with the same columns. */
  readonly row: string;
  readonly parameters: Parameters;
  /**
   * Alias of the stored row that `:changed` compares the body with. Without one nothing is stored yet, and every value
   * but null is a change.
   */
  readonly stored?: string;
  /** Collation, quoted, by which text is folded to lower case; `unicodeCollation` when it is not given. */
  readonly collation?: string;
}

/**
 * PostgreSQL's own Unicode collation: the same case rules on every system, whatever the database's locale. It is there
 * from PostgreSQL 17 on; before, `"und-x-icu"` of a server with ICU comes nearest.
 */
export const unicodeCollation = '"pg_c_utf8"';

/** The text in lower case by Unicode's simple case mapping. */
export const lowerSql = (text: string, { collation = unicodeCollation }: Place): string =>
  `lower(${text} collate ${collation})`;
