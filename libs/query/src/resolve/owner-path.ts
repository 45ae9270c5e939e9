import { type OwnerPath, ownerPrefix } from '../language/ast.ts';
import { QueryError, UnknownName } from '../query-error.ts';
import type { Side } from './one-kind.ts';
import { findColumn } from './path.ts';
import type { Column } from './resolved.ts';
import { outermost, type Scope } from './scope.ts';
import { kindAfter, transformOf } from './transform.ts';

/**
 * Resolves `@owner.<path>`: a path from the row of the record that owns a webhook. The statement's request value `auth.id`
 * is that record's id. As with caller values, a test on a value that the owner lacks never holds. Throws QueryError in
 * other rules and in filters, for a hidden field, and for too many relations.
 */
export function findOwnerColumn(operand: OwnerPath, scope: Scope): Side {
  const { modifier, position } = operand;
  const { owner } = outermost(scope);
  if (!owner) throw new QueryError('@owner is for webhook_rule', position);
  const column = findInOwner(operand, { ...scope, owner });
  if (!column) return { type: 'absent', position };
  const transformed = { ...column, transform: transformOf(modifier, column, position) };
  const kind = kindAfter(transformed);
  return { type: 'known', source: { source: 'caller', account: owner, column: transformed, kind }, kind, position };
}

/** The column that the path leads to; undefined if the owner's collection lacks a name in it. */
export function findInOwner({ segments, position }: OwnerPath, { schema, owner }: Scope): Column | undefined {
  if (!owner) return undefined;
  try {
    return findColumn(segments, position + ownerPrefix.length, { collection: owner, schema, audience: 'rule' });
  } catch (error) {
    if (error instanceof UnknownName) return undefined;
    throw error;
  }
}
