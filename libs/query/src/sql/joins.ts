import { tableOf } from '@recordbus/schema';
import type { Column } from '../resolve/resolved.ts';
import { kindAfter } from '../resolve/transform.ts';
import { compile } from './compile.ts';
import type { SqlTarget } from './sql-target.ts';
import { columnSql, storedSql } from './value-sql.ts';

/** The relations that columns follow, as joins after the table, each with at most one row. */
export interface Joins {
  /** Returns a column's SQL, and adds the joins that lead to it. Paths that begin the same way share them. */
  columnSql(column: Column): string;
  readonly sql: string;
}

/** Creates the joins from a statement's row. They leave out records that a guard or a hidden relation hides. */
export function createJoins(into: SqlTarget): Joins {
  const joins: string[] = [];
  const aliases = new Map<string, string>();

  /** Joins a path's relations. Returns the last one's alias. */
  function join({ hops }: Column): string {
    let row = into.row;
    for (const { link: relation, target, guard, visibleIf } of hops) {
      const link = `${row}.${relation.column}`;
      let alias = aliases.get(link);
      if (alias === undefined) {
        alias = into.parameters.alias();
        aliases.set(link, alias);
        const conditions = [
          `${alias}.id = ${link}`,
          ...(visibleIf ? [compile(visibleIf, { ...into, row })] : []),
          ...(guard ? [compile(guard, { ...into, row: alias, isTable: target.type !== 'view' })] : []),
        ];
        joins.push(`left join ${tableOf(target)} ${alias} on ${conditions.join(' and ')}`);
      }
      row = alias;
    }
    return row;
  }

  return {
    columnSql(column) {
      const there = { ...into, row: join(column) };
      return column.transform ? columnSql(column, kindAfter(column), there) : storedSql(column, there);
    },
    get sql() {
      return joins.join(' ');
    },
  };
}
