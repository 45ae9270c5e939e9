import { compileExpression, QueryError, type QuerySchema, type SqlTarget } from '@recordbus/query';
import type { Collection, RuleName } from '@recordbus/schema';
import type { RuleContext } from './rule-context.ts';

/** The audience of the filters and sorts that the caller sends. */
export const audienceOf = ({ principal }: Pick<RuleContext, 'principal'>): 'admin' | 'client' =>
  principal.type === 'admin' ? 'admin' : 'client';

/**
 * SQL of a collection's rule as a condition on the row of `into`; false or null where it does not hold. A rule that
 * cannot be compiled, such as one whose fields another replica has just changed, is false.
 */
export const compileRule = (collection: Collection, action: RuleName, schema: QuerySchema, into: SqlTarget): string =>
  compileCondition(collection.rules[action] ?? '', collection, schema, into);

/** Compiles a rule that is not one of the collection's five. */
export function compileCondition(rule: string, collection: Collection, schema: QuerySchema, into: SqlTarget): string {
  try {
    return compileExpression(rule, { collection, schema, audience: 'rule' }, into);
  } catch (error) {
    if (error instanceof QueryError) return 'false';
    throw error;
  }
}
