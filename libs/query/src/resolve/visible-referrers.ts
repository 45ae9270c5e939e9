import { type BackRelation, findBackRelation } from './back-relation.ts';
import { visibilityOf } from './field-access.ts';
import { isNamed } from './guard.ts';
import type { Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';

/** A back-relation, and the condition on a referring record under which the caller sees its relation. */
export interface VisibleReferrers extends BackRelation {
  readonly visibleIf: Resolved | undefined;
}

/**
 * Finds a back-relation that expressions in this scope may name. A client cannot name one over a relation that the
 * caller never sees, or from a collection that only admins see.
 */
export function findVisibleReferrers(
  name: string,
  target: BackRelation['collection'],
  scope: Scope,
): VisibleReferrers | undefined {
  const found = findBackRelation(name, target, scope);
  if (!found || !isNamed(found.collection, scope)) return undefined;
  const visibility = visibilityOf(found.relation, found.collection, scope);
  if (visibility === 'closed') return undefined;
  return { ...found, visibleIf: visibility === 'open' ? undefined : visibility };
}
