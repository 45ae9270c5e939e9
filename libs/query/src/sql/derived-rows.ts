import type { ValueKind } from '@recordbus/schema';
import { memberCollection } from '../resolve/member-collection.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { compileExpression } from './expressions.ts';
import type { SqlTarget } from './sql-target.ts';

/** Rows that a statement computes, such as groups: their name in errors, and their columns by name. */
export interface DerivedRows {
  readonly name: string;
  readonly columns: ReadonlyMap<string, { readonly column: string; readonly kind: ValueKind }>;
}

/**
 * Compiles a client's expression over computed rows to an SQL condition on the row at `into`. Throws QueryError for any
 * name that is not a column: computed rows have no related records, and no other collection can be named.
 */
export function compileOverRows(
  text: string,
  rows: DerivedRows,
  { collation }: Pick<QuerySchema, 'collation'>,
  into: SqlTarget,
): string {
  const schema = { collation, findCollection: () => undefined };
  return compileExpression(
    text,
    { collection: memberCollection(rows.name, rows.columns), schema, audience: 'client' },
    into,
  );
}
