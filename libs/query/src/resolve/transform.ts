import type { ValueKind } from '@recordbus/schema';
import type { Modifier } from '../language/ast.ts';
import { QueryError } from '../query-error.ts';
import type { Column, Transform } from './resolved.ts';

/** A modifier's transform for a column. Throws QueryError if the column does not have it. */
export function transformOf(
  modifier: Modifier | undefined,
  { kind }: Pick<Column, 'kind'>,
  position: number,
): Transform | undefined {
  if (modifier === undefined) return undefined;
  if (modifier === 'isset' || modifier === 'changed')
    throw new QueryError(`:${modifier} is for request values`, position);
  if (modifier === 'lower' && kind !== 'text' && kind !== 'json') throw new QueryError(':lower is for text', position);
  if (modifier === 'length' && kind !== 'text' && kind !== 'list' && kind !== 'json')
    throw new QueryError(':length is for text and lists', position);
  return { to: modifier };
}

/** The kind that a column's value has after its transform. */
export function kindAfter({ kind, transform }: Pick<Column, 'kind' | 'transform'>): ValueKind {
  if (transform === undefined) return kind;
  return transform.to === 'lower' ? 'text' : 'number';
}
