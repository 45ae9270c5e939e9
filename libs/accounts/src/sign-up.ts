import { type AppError, forbidden, unauthenticated } from '@recordbus/errors';
import { callerCollection, compileExpression, type Parameters, QueryError, type QuerySchema } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';

/**
 * Whether the create rule is checked for a new account, however it is created (auth §3.3). Admins pass every rule, and
 * `""` only closes the records API.
 */
export const isSignUpChecked = ({ rules }: Pick<Collection, 'rules'>, principal: Principal): boolean =>
  Boolean(rules.create) && principal.type !== 'admin';

/** What a create rule is compiled for. */
export interface SignUpCheck {
  readonly schema: QuerySchema;
  readonly principal: Principal;
}

/** The create rule as a condition on the row `draft`. */
export function compileSignUpRule(
  collection: Collection,
  { schema, principal }: SignUpCheck,
  parameters: Parameters,
): string {
  const caller = callerCollection(principal, schema);
  const place = { row: 'draft', parameters, collation: schema.collation };
  try {
    return compileExpression(collection.rules.create ?? '', { collection, schema, audience: 'rule', caller }, place);
  } catch (error) {
    // A rule that cannot be compiled, such as one whose fields have just changed, admits nobody. It has added
    // no parameter yet.
    if (error instanceof QueryError) return 'false';
    throw error;
  }
}

/** The create rule's refusal: 401 for a guest with an invalid token, otherwise 403. */
export const refusedByRule = (principal: Principal): AppError =>
  principal.type === 'guest' && principal.rejectedToken
    ? unauthenticated('the token is not valid')
    : forbidden("the collection's rule does not allow it");

/** 403 for a collection whose accounts only admins create. */
export const signUpClosed = (): AppError => forbidden('sign-up is closed for this collection', 'sign_up_closed');
