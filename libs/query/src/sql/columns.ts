import type { ValueKind } from '@recordbus/schema';
import { findPlainColumn } from '../resolve/plain-column.ts';
import type { Scope } from '../resolve/scope.ts';
import { createJoins } from './joins.ts';
import { type SqlTarget, withCollation } from './sql-target.ts';

/** A record's value, possibly over relations. Null if a relation leads to no record that the caller may see. */
export interface ColumnValue {
  readonly sql: string;
  readonly kind: ValueKind;
}

/** Record values in one statement, and the joins that lead to them. */
export interface Columns {
  /** Finds the value at a path's end. Throws QueryError for an unknown or hidden name. */
  find(path: string): ColumnValue;
  /** The joins after the table, once all values are found. */
  readonly joins: string;
}

/** Creates the values that a statement reads from the row at `at`. */
export function createColumns(scope: Scope, at: SqlTarget): Columns {
  const joins = createJoins(withCollation(scope, at));
  return {
    find(path) {
      const column = findPlainColumn(path, 0, scope);
      const sql = joins.columnSql(column);
      // A null within JSON means no value, like SQL's null.
      return { sql: column.kind === 'json' ? `nullif(${sql}, 'null'::jsonb)` : sql, kind: column.kind };
    },
    get joins() {
      return joins.sql;
    },
  };
}
