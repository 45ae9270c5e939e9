import type { Collection, ValueKind } from '@recordbus/schema';
import { setMembers } from '../resolve/member.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { compileExpression } from './expressions.ts';
import type { SqlTarget } from './sql-target.ts';

/** Rows that a statement computes, such as groups: what expressions call them, and their columns by name. */
export interface DerivedRows {
  readonly name: string;
  readonly columns: ReadonlyMap<string, { readonly column: string; readonly kind: ValueKind }>;
}

/**
 * Compiles an expression of a client over computed rows to an SQL condition on the row of `into`. Throws QueryError for
 * any name but those of the columns: computed rows have no related records, and no other collection is in reach.
 */
export function compileOverRows(
  text: string,
  rows: DerivedRows,
  { collation }: Pick<QuerySchema, 'collation'>,
  into: SqlTarget,
): string {
  const schema = { collation, findCollection: () => undefined };
  return compileExpression(text, { collection: collectionOf(rows), schema, audience: 'client' }, into);
}

/** A collection that has the columns as members, and nothing else. */
function collectionOf({ name, columns }: DerivedRows): Collection {
  const collection: Collection = {
    id: '',
    name,
    type: 'view',
    fields: [],
    viewQuery: null,
    rules: { list: null, view: null, create: null, update: null, delete: null },
    historyEnabled: false,
    lacking: ['created_at', 'updated_at'],
    createdAtSec: 0,
    updatedAtSec: 0,
  };
  setMembers(collection, columns);
  return collection;
}
