import { compileExpression, type Parameters, QueryError, type QuerySchema } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';

/** Where a rule about accounts is compiled. */
interface Place {
  /** The stored row's alias. */
  readonly row: string;
  readonly parameters: Parameters;
}

/** Compiles an expression over an account to a condition on its stored row. Throws QueryError for a bad one. */
export function compileAccountRule(
  rule: string,
  collection: Collection,
  schema: QuerySchema,
  { row, parameters }: Place,
): string {
  const place = { row, parameters, collation: schema.collation, isTable: true };
  return `(${compileExpression(rule, { collection, schema, audience: 'rule', caller: undefined }, place)}) is true`;
}

/** The same, but a rule that cannot be compiled, such as one whose fields have just changed, has the given result. */
export function accountCondition(
  rule: string,
  collection: Collection,
  schema: QuerySchema,
  { row, parameters, otherwise }: Place & { readonly otherwise: boolean },
): string {
  try {
    return compileAccountRule(rule, collection, schema, { row, parameters });
  } catch (error) {
    // The rule has added no parameter yet.
    if (error instanceof QueryError) return String(otherwise);
    throw error;
  }
}
