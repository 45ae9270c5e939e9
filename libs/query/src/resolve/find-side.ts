import type { Operand, Path } from '../language/ast.ts';
import { QueryError } from '../query-error.ts';
import { findCallerColumn } from './caller-path.ts';
import { findCount } from './find-count.ts';
import type { Side } from './one-kind.ts';
import { findOwnerColumn } from './owner-path.ts';
import { findColumn } from './path.ts';
import { findRequestSource } from './request-path.ts';
import type { Column } from './resolved.ts';
import type { Scope } from './scope.ts';
import { kindAfter, transformOf } from './transform.ts';

/**
 * Looks up one side of a comparison. Throws QueryError for an unknown name and for a modifier that the value does not
 * have.
 */
export function findSide(operand: Operand, scope: Scope): Side {
  const { position } = operand;
  switch (operand.kind) {
    case 'null':
      return { type: 'null', position };
    case 'moment': {
      const { name, shiftSec } = operand;
      return { type: 'known', source: { source: 'moment', name, shiftSec }, kind: 'date', position };
    }
    case 'path':
      return columnSide(modified(operand, scope), position);
    case 'count':
      return findCount(operand, scope);
    case 'distance': {
      const { of, lat, lng } = operand;
      return columnSide(withDistance(of, { lat, lng }, scope), position);
    }
    case 'request':
      return findCallerColumn(operand, scope) ?? { ...findRequestSource(operand, scope), position };
    case 'owner':
      return findOwnerColumn(operand, scope);
    case 'text':
    case 'number':
    case 'bool':
      return { type: 'literal', literal: operand, position };
  }
}

const columnSide = (column: Column, position: number): Side => ({
  type: 'known',
  source: column,
  kind: kindAfter(column),
  position,
});

function modified({ segments, modifier, position }: Path, scope: Scope): Column {
  const column = findColumn(segments, position, scope);
  return { ...column, transform: transformOf(modifier, column, position) };
}

/** The distance from a column's point. Throws QueryError for a column with another type. */
export function withDistance(
  { segments, modifier, position }: Path,
  { lat, lng }: { readonly lat: number; readonly lng: number },
  scope: Scope,
): Column {
  const column = findColumn(segments, position, scope);
  if (!column.isPoint || modifier !== undefined) throw new QueryError('distance takes a geoPoint field', position);
  return { ...column, transform: { to: 'distance', lat, lng } };
}
