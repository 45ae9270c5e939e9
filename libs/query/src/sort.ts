import type { ValueKind } from '@recordbus/schema';
import { createJoins } from './joins.ts';
import { limits } from './limits.ts';
import { findPlainColumn } from './plain-column.ts';
import { QueryError } from './query-error.ts';
import type { Column } from './resolved.ts';
import type { Scope } from './scope.ts';
import { type SqlTarget, withCollation } from './sql-target.ts';

/** A sort in SQL: the joins after the table, each of at most one row, and the ORDER BY list with its keys. */
export interface Sort {
  readonly joins: string;
  readonly orderBy: string;
  /** What ORDER BY compares, in order; the last one is the id. */
  readonly keys: readonly SortKey[];
}

/** One value by which a list is sorted. */
export interface SortKey {
  readonly sql: string;
  readonly kind: ValueKind;
  readonly isDescending: boolean;
  readonly canBeNull: boolean;
}

/**
 * Compiles `sort` (filters §9): comma-separated paths, `-` for descending. Nulls sort as in PostgreSQL: last ascending,
 * first descending. A path to a record that the caller may not list is null. Ties are sorted by id, in the direction of
 * the last term, so pages never overlap and an index with the id after its columns serves both directions. Throws
 * QueryError for an unknown or hidden path, an empty term, and too many terms.
 */
export function compileSort(sort: string, scope: Scope, at: SqlTarget): Sort {
  const into = withCollation(scope, at);
  const joins = createJoins(into);
  const keys: SortKey[] = [];
  let isUnique = false;
  const terms = sort.split(',');
  if (terms.length > limits.sortTerms) throw new QueryError(`may have at most ${limits.sortTerms} terms`, 0);
  let isDescending = false;
  let position = 0;
  for (const term of terms) {
    const text = term.trim();
    isDescending = text.startsWith('-');
    const column = findPlainColumn(isDescending ? text.slice(1) : text, position, scope);
    position += term.length + 1;
    // Ids are unique: later terms order nothing.
    if (isUnique) continue;
    isUnique = column.hops.length === 0 && column.column === 'id';
    const sql = joins.columnSql(column);
    keys.push({ sql, kind: column.kind, isDescending, canBeNull: !isUnique && !isTimeOfRecord(column, scope) });
  }
  if (!isUnique) keys.push({ sql: `${into.row}.id`, kind: 'text', isDescending, canBeNull: false });
  const orderBy = keys.map((key) => `${key.sql}${key.isDescending ? ' desc' : ''}`).join(', ');
  return { joins: joins.sql, orderBy, keys };
}

/** Whether the column is `created` or `updated` of a table, which always have a value. */
const isTimeOfRecord = ({ hops, column }: Column, { collection }: Scope): boolean =>
  hops.length === 0 && collection.type !== 'view' && (column === 'created_at' || column === 'updated_at');
