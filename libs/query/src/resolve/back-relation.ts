import { type Collection, type Field, linkTableOf, quoteIdentifier } from '@recordbus/schema';
import { membersOf } from './member.ts';
import type { Link } from './resolved.ts';
import type { Scope } from './scope.ts';

/** The word between a back-relation's two names: `comments_via_post`. */
export const via = '_via_';

/** Another collection's records that refer to a collection's records by a relation. */
export interface BackRelation {
  readonly collection: Collection;
  readonly relation: Field;
  readonly link: Link;
}

/**
 * Finds a collection's back-relation by its name: the referring collection, `_via_`, and its relation. Both names may
 * contain `_via_`, so every occurrence is tried.
 */
export function findBackRelation(
  name: string,
  target: Pick<Collection, 'name'>,
  { schema }: Pick<Scope, 'schema'>,
): BackRelation | undefined {
  for (let at = name.indexOf(via); at >= 0; at = name.indexOf(via, at + 1)) {
    const collection = schema.findCollection(name.slice(0, at));
    const relation = name.slice(at + via.length);
    const field = collection && membersOf(collection).get(relation)?.field;
    if (!collection || field?.collection !== target.name) continue;
    const column = quoteIdentifier(relation);
    if (membersOf(collection).get(relation)?.kind !== 'list')
      return { collection, relation: field, link: { via: 'referrers', column } };
    return {
      collection,
      relation: field,
      link: { via: 'listReferrers', column, table: tableOfLinks(collection, field) },
    };
  }
  return undefined;
}

/** The table with the links of a relation to several records. A view has none. */
export const tableOfLinks = (collection: Collection, field: Field): string | undefined =>
  collection.type === 'view' ? undefined : linkTableOf(collection, field);
