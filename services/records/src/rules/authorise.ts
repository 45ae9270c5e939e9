import type { Rule } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { type AppError, forbidden, unauthenticated } from '@recordbus/shared/errors';

/** Does the rule let this caller through without being evaluated? Admins pass every rule, null is public. */
export const isOpenTo = (rule: Rule, principal: Principal): boolean => rule === null || principal.type === 'admin';

/**
 * Asks a rule before anything else is looked at (interface §2.1, contract §2): throws 403 or 401 when it lets admins
 * only. An expression is asked later, of the record.
 */
export function authorise(rule: Rule, principal: Principal): void {
  if (rule === '' && !isOpenTo(rule, principal)) throw ruleRefusal(principal, 'only admins may do this');
}

/** What a rule that fails is answered with: 403, or 401 when the caller presented a token that was no good. */
export const ruleRefusal = (
  principal: Principal,
  message = 'the rule of this collection does not allow it',
): AppError =>
  principal.type === 'guest' && principal.rejectedToken
    ? unauthenticated('the token is not valid')
    : forbidden(message);
