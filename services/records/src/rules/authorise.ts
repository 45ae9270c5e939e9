import type { Rule } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { forbidden, unauthenticated } from '@recordbus/shared/errors';

/** Does the rule let this caller through without being evaluated? Admins pass every rule, null is public. */
export const isOpenTo = (rule: Rule, principal: Principal): boolean => rule === null || principal.type === 'admin';

/**
 * Asks a rule before anything else is looked at (interface §2.1, contract §2): 403, or 401 when the caller presented a
 * token that was no good. An expression is refused like the empty rule as long as there is nothing that evaluates it:
 * a rule that is not understood must not let anyone through.
 */
export function authorise(rule: Rule, principal: Principal): void {
  if (isOpenTo(rule, principal)) return;
  if (principal.type === 'guest' && principal.rejectedToken) throw unauthenticated('the token is not valid');
  throw forbidden(rule === '' ? 'only admins may do this' : 'the rule of this collection does not allow it');
}
