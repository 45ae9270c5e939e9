import type { Collection } from '@recordbus/schema';
import { readsCaller } from './caller-values.ts';
import type { Resolved, ResolvedComparison } from './resolved.ts';

/** Whether an expression may hold for some record and some caller with an account of this collection, or for a guest. */
export function canHold(expression: Resolved, caller: Collection | undefined): boolean {
  switch (expression.kind) {
    case 'all':
      return expression.items.every((item) => canHold(item, caller));
    case 'any':
      return expression.items.some((item) => canHold(item, caller));
    case 'decided':
      return expression.holds;
    case 'comparison':
      if (caller) return isTrueOf(expression, caller) !== false;
      return !readsCaller(expression);
    default:
      return caller !== undefined || !readsCaller(expression);
  }
}

/** The verdict of a comparison that is the same for all accounts of a collection; undefined for others. */
function isTrueOf({ operator, left, right, isNegated }: ResolvedComparison, { name }: Collection): boolean | undefined {
  const known: Readonly<Record<string, string>> = { type: 'user', collection: name };
  for (const [side, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (side.source !== 'request' || side.part !== 'auth' || side.isLowered || operator !== '=') continue;
    const [member = ''] = side.path;
    if (other.source === 'constant' && Object.hasOwn(known, member))
      return (known[member] === other.value) !== isNegated;
  }
  return undefined;
}
