import { tableOf } from '@recordbus/schema';
import { compile } from './compile.ts';
import { limits } from './limits.ts';
import { findColumn } from './path.ts';
import { type Place, placeIn } from './place.ts';
import { QueryError } from './query-error.ts';
import type { Column } from './resolved.ts';
import type { Scope } from './scope.ts';
import { storedSql } from './value-sql.ts';

/** A sort in SQL: what to join after the table, each join giving one row at most, and the ORDER BY list. */
export interface Sort {
  readonly joins: string;
  readonly orderBy: string;
}

const path = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$/;

/**
 * Reads `sort` (interface §4.5): comma-separated paths, `-` for descending. PostgreSQL's own places for null (last
 * ascending, first descending) are those of the contract, and a path over a relation that leads to nothing the caller
 * may list is null. Ties go by id, in the direction of the last term, so pages never overlap and an index with the id
 * behind its columns serves both directions. Throws QueryError for a path that the collection does not have or that is
 * hidden, an empty term, and too many terms.
 */
export function compileSort(sort: string, scope: Scope, at: Place): Sort {
  const place = placeIn(scope, at);
  const joins: Joins = { sql: [], aliases: new Map() };
  const order: string[] = [];
  const terms = sort.split(',');
  if (terms.length > limits.sortTerms) throw new QueryError(`may have at most ${limits.sortTerms} terms`, 0);
  let direction = '';
  let position = 0;
  for (const term of terms) {
    const text = term.trim();
    direction = text.startsWith('-') ? ' desc' : '';
    const column = findSortColumn(direction ? text.slice(1) : text, position, scope);
    order.push(`${storedSql(column, { ...place, row: join(column, place, joins) })}${direction}`);
    position += term.length + 1;
    if (column.hops.length === 0 && column.column === 'id')
      return { joins: joins.sql.join(' '), orderBy: order.join(', ') };
  }
  return { joins: joins.sql.join(' '), orderBy: [...order, `${place.row}.id${direction}`].join(', ') };
}

function findSortColumn(text: string, position: number, scope: Scope): Column {
  if (!path.test(text)) throw new QueryError(`${scope.collection.name} has no field ${JSON.stringify(text)}`, position);
  return findColumn(text.split('.'), position, scope);
}

/** The joins of one sort; paths that begin the same way share them. */
interface Joins {
  readonly sql: string[];
  readonly aliases: Map<string, string>;
}

/** Joins what a path leads to and gives the alias of its end. */
function join({ hops }: Column, place: Place, { sql, aliases }: Joins): string {
  let row = place.row;
  for (const { column, target, guard } of hops) {
    const link = `${row}.${column}`;
    let alias = aliases.get(link);
    if (alias === undefined) {
      alias = place.parameters.alias();
      aliases.set(link, alias);
      const condition = guard ? ` and ${compile(guard, { ...place, row: alias })}` : '';
      sql.push(`left join ${tableOf(target)} ${alias} on ${alias}.id = ${link}${condition}`);
    }
    row = alias;
  }
  return row;
}
