import type { Comparison, Expression, Operand } from './ast.ts';
import { compareAsOneKind, type Side } from './one-kind.ts';
import { findColumn } from './path.ts';
import { QueryError } from './query-error.ts';
import { findRequestSource } from './request-path.ts';
import type { Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';

/**
 * Looks up every name of an expression and reads each literal as the kind of the other side. Throws QueryError for an
 * unknown field and for sides that cannot be compared.
 */
export function resolve(expression: Expression, scope: Scope): Resolved {
  if (expression.kind === 'comparison') return resolveComparison(expression, scope);
  return { kind: expression.kind, items: expression.items.map((item) => resolve(item, scope)) };
}

function resolveComparison({ operator, left, right }: Comparison, scope: Scope): Resolved {
  return compareAsOneKind(operator, findSide(left, scope), findSide(right, scope));
}

function findSide(operand: Operand, scope: Scope): Side {
  const { position } = operand;
  switch (operand.kind) {
    case 'null':
      return { type: 'null', position };
    case 'moment':
      return { type: 'known', source: { source: 'moment', name: operand.name }, kind: 'date', position };
    case 'path': {
      const column = findColumn(operand.segments, position, scope);
      if (operand.modifier === undefined) return { type: 'known', source: column, kind: column.kind, position };
      if (operand.modifier !== 'lower')
        throw new QueryError(`:${operand.modifier} is for values of the request`, position);
      if (column.kind !== 'text' && column.kind !== 'json') throw new QueryError(':lower is for text', position);
      return { type: 'known', source: { ...column, isLowered: true }, kind: 'text', position };
    }
    case 'request':
      return { ...findRequestSource(operand, scope), position };
    default:
      return { type: 'literal', literal: operand, position };
  }
}
