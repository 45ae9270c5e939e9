import type { Parameters } from './parameters.ts';
import type { Scope } from './scope.ts';

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
  /** Collation, quoted, by which text is folded to lower case; the schema's when it is not given. */
  readonly collation?: string | undefined;
}

/** The place with the collation of the schema, unless it says one itself. */
export const placeIn = ({ schema }: Pick<Scope, 'schema'>, place: Place): Place => ({
  ...place,
  collation: place.collation ?? schema.collation,
});

/**
 * PostgreSQL's own Unicode collation: the same case rules on every system, whatever the database's locale. It is there
 * from PostgreSQL 17 on; before, `"und-x-icu"` of a server with ICU comes nearest.
 */
export const unicodeCollation = '"pg_c_utf8"';

/**
 * The text in lower case by Unicode's simple case mapping. It is ordered by code points, as the first collation orders
 * it, also where another one folds.
 */
export const lowerSql = (text: string, { collation = unicodeCollation }: Pick<Place, 'collation'>): string =>
  collation === unicodeCollation
    ? `lower(${text} collate ${collation})`
    : `(lower(${text} collate ${collation}) collate "C")`;
