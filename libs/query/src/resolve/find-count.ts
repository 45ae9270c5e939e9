import type { Operand } from '../language/ast.ts';
import { errorAt, QueryError } from '../query-error.ts';
import { findInAccount, isCallerPath } from './caller-path.ts';
import { guardOf } from './guard.ts';
import type { Side } from './one-kind.ts';
import { findColumn, plainColumn } from './path.ts';
import type { Column, CountSource, Hop } from './resolved.ts';
import type { Scope } from './scope.ts';

type Count = Extract<Operand, { kind: 'count' }>;

/** Resolves `count(…)` of records or list entries. Throws QueryError for a path to anything else. */
export function findCount({ of, position }: Count, scope: Scope): Side {
  if (of.modifier !== undefined) throw errorAt(`count takes a path without :${of.modifier}`, of.position);
  if (of.kind === 'path') {
    const column = findColumn(of.segments, of.position, scope);
    return countSide(countOf(column, undefined, scope, of.position), position);
  }
  if (scope.audience !== 'rule') throw new QueryError(`@request.${of.segments.join('.')} is for rules`, of.position);
  if (!isCallerPath(of)) throw new QueryError("count takes a path in the record or the caller's account", of.position);
  const column = findInAccount(of, scope);
  if (!column || !scope.caller) return { type: 'absent', position };
  return countSide(countOf(column, scope.caller, scope, of.position), position);
}

const countSide = (source: CountSource, position: number): Side => ({
  type: 'known',
  source,
  kind: 'number',
  position,
});

/** A path that ends in relations counts their records; for a client, only visible ones. */
function countOf(column: Column, account: CountSource['account'], scope: Scope, position: number): CountSource {
  const { relation } = column;
  if (relation) {
    const hop: Hop = { ...relation, guard: guardOf(relation.target, scope) };
    const isOwnList = relation.link.via === 'list' && column.hops.length === 0 && !hop.guard;
    if (isOwnList) return { source: 'count', of: column, account, countsEntries: true };
    const of = { ...plainColumn([...column.hops, hop], 'id', 'text'), up: column.up };
    return { source: 'count', of, account, countsEntries: false };
  }
  if (column.kind === 'list') return { source: 'count', of: column, account, countsEntries: true };
  if (column.hops.length > 0 && isId(column)) return { source: 'count', of: column, account, countsEntries: false };
  throw new QueryError('count takes a path to records, or to a list', position);
}

const isId = ({ column }: Column): boolean => column === 'id' || column === 'target';
