import type { ValueKind } from '@recordbus/schema';
import { parseOperand } from '../language/parse-operand.ts';
import { openTokens, unexpected } from '../language/token-stream.ts';
import { limits } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { findCount } from '../resolve/find-count.ts';
import { withDistance } from '../resolve/find-side.ts';
import { findPlainColumn, refuseSeveral } from '../resolve/plain-column.ts';
import type { Column, CountSource } from '../resolve/resolved.ts';
import type { Scope } from '../resolve/scope.ts';
import { kindAfter } from '../resolve/transform.ts';
import { countSql } from './count-sql.ts';
import { createJoins } from './joins.ts';
import { type SqlTarget, withCollation } from './sql-target.ts';

/** A sort in SQL: the joins after the table, each with at most one row, and the ORDER BY list with its keys. */
export interface Sort {
  readonly joins: string;
  readonly orderBy: string;
  /** The ORDER BY keys, in order. The last one is the id. */
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
 * Compiles `sort` (filters §9): comma-separated paths, counts and distances, `-` for descending. Nulls sort as in
 * PostgreSQL: last ascending, first descending. A path to a record that the caller may not view is null. Ties are
 * sorted by id, in the last term's direction, so pages never overlap and an index with the id after its columns serves
 * both directions. Throws QueryError for an unknown or hidden path, a path to several records, an empty term, and too
 * many terms.
 */
export function compileSort(sort: string, scope: Scope, at: SqlTarget): Sort {
  const into = withCollation(scope, at);
  const joins = createJoins(into);
  const keys: SortKey[] = [];
  let isUnique = false;
  const terms = splitTerms(sort);
  if (terms.length > limits.sortTerms) throw new QueryError(`may have at most ${limits.sortTerms} terms`, 0);
  let isDescending = false;
  let position = 0;
  for (const term of terms) {
    const text = term.trim();
    isDescending = text.startsWith('-');
    const found = findKey(isDescending ? text.slice(1) : text, position, scope);
    position += term.length + 1;
    // Ids are unique, so later terms have no effect.
    if (isUnique) continue;
    if (found.source === 'count') {
      keys.push({ sql: countSql(found, into), kind: 'number', isDescending, canBeNull: false });
      continue;
    }
    isUnique = found.hops.length === 0 && found.column === 'id';
    const canBeNull = !isUnique && !isTimeOfRecord(found, scope);
    keys.push({ sql: joins.columnSql(found), kind: kindAfter(found), isDescending, canBeNull });
  }
  if (!isUnique) keys.push({ sql: `${into.row}.id`, kind: 'text', isDescending, canBeNull: false });
  const orderBy = keys.map((key) => `${key.sql}${key.isDescending ? ' desc' : ''}`).join(', ');
  return { joins: joins.sql, orderBy, keys };
}

/** Splits a sort at the commas outside functions' parentheses. */
function splitTerms(sort: string): string[] {
  const terms: string[] = [];
  let open = 0;
  let from = 0;
  for (let at = 0; at < sort.length; at += 1) {
    const sign = sort.charAt(at);
    if (sign === '(') open += 1;
    if (sign === ')') open -= 1;
    if (sign !== ',' || open > 0) continue;
    terms.push(sort.slice(from, at));
    from = at + 1;
  }
  return [...terms, sort.slice(from)];
}

/** Finds a term's key: a path, a count or a distance. */
function findKey(text: string, position: number, scope: Scope): Column | CountSource {
  if (!text.includes('(')) return findPlainColumn(text, position, scope);
  const tokens = openTokens(text);
  const operand = parseOperand(tokens);
  if (tokens.peek().kind !== 'end') throw unexpected(tokens.peek(), 'expected ,');
  if (operand.kind === 'distance') return refuseSeveral(withDistance(operand.of, operand, scope), text, position);
  const side = operand.kind === 'count' ? findCount(operand, scope) : undefined;
  if (side?.type === 'known' && side.source.source === 'count') return side.source;
  throw new QueryError(`${scope.collection.name} has no field ${JSON.stringify(text)}`, position);
}

/** Whether the column is a table's `created` or `updated`, which always have a value. */
const isTimeOfRecord = ({ hops, column }: Column, { collection }: Scope): boolean =>
  hops.length === 0 && collection.type !== 'view' && (column === 'created_at' || column === 'updated_at');
