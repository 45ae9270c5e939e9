import { AppError, forbidden, unauthenticated } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import type { Rule } from '@recordbus/schema';

/** Whether the caller passes the rule without evaluation: null is public, and admins pass every rule. */
export const isOpenTo = (rule: Rule, principal: Principal): boolean => rule === null || isAdmin(principal);

/**
 * Checks a rule before the request is read (rules §2.1): throws 403 or 401 when it admits only admins. Expressions are
 * checked later, on the record.
 */
export function authorize(rule: Rule, principal: Principal): void {
  if (rule !== '' || isOpenTo(rule, principal)) return;
  if (principal.type === 'service')
    throw new AppError(403, 'scope_missing', 'the service key has no scope that allows this');
  throw ruleRefusal(principal, 'only admins may do this');
}

/** The refusal when a rule does not hold: 403, or 401 for a guest with an invalid token (rules §2.4). */
export const ruleRefusal = (principal: Principal, message = "the collection's rule does not allow it"): AppError =>
  principal.type === 'guest' && principal.rejectedToken
    ? unauthenticated('the token is not valid')
    : forbidden(message);
