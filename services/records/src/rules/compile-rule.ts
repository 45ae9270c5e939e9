import { compileExpression, type Place, QueryError, type QuerySchema, type RequestValues } from '@recordbus/query';
import type { Collection, RuleName } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { isOpenTo } from './authorise.ts';

/** Of whom and of what a rule is asked. */
export interface Asking {
  readonly principal: Principal;
  readonly request: RequestValues;
  readonly schema: QuerySchema;
}

/** The same as an admin would ask it: no rule stands against what a write leads to by itself. */
export const withoutRules = (asking: Asking): Asking => ({
  ...asking,
  principal: { type: 'admin', id: 'system', email: '' },
});

/** As whom the language of filters sees the caller. */
export const writerOf = ({ principal }: Pick<Asking, 'principal'>): 'admin' | 'client' =>
  principal.type === 'admin' ? 'admin' : 'client';

/** Has the rule to be evaluated for this caller? */
export const isAsked = (collection: Collection, action: RuleName, principal: Principal): boolean =>
  !isOpenTo(collection.rules[action], principal);

/**
 * The condition, true or else false or null, that a collection's rule puts on the row of `place`. A rule that is not
 * understood, as one may be whose fields another replica has just changed, lets nobody through.
 */
export const compileRule = (collection: Collection, action: RuleName, schema: QuerySchema, place: Place): string =>
  compileCondition(collection.rules[action] ?? '', collection, schema, place);

/** The same for an expression that is not one of the collection's five. */
export function compileCondition(rule: string, collection: Collection, schema: QuerySchema, place: Place): string {
  try {
    return compileExpression(rule, { collection, schema, writtenBy: 'rule' }, place);
  } catch (error) {
    if (error instanceof QueryError) return 'false';
    throw error;
  }
}
