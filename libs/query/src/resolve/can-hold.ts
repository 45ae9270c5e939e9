import type { Collection } from '@recordbus/schema';
import { serviceAccount } from './caller-collection.ts';
import { readsCaller } from './caller-values.ts';
import type { Resolved, ResolvedComparison } from './resolved.ts';
import { type ResolvedTest, visitResolved } from './visit-resolved.ts';

/**
 * Whether an expression may hold for some record and some caller: an account in this collection, a service key, or a
 * guest.
 */
export function canHold(expression: Resolved, caller: Collection | undefined): boolean {
  const holdsIfRead = (test: ResolvedTest) => caller !== undefined || !readsCaller(test);
  return visitResolved(expression, {
    all: (items) => items.every((item) => canHold(item, caller)),
    any: (items) => items.some((item) => canHold(item, caller)),
    decided: ({ holds }) => holds,
    nullTest: holdsIfRead,
    comparison: (test) => holdsIfRead(test) && (caller === undefined || isTrueOf(test, caller) !== false),
    exists: holdsIfRead,
  });
}

/** A comparison's verdict if it is the same for all accounts in a collection; otherwise undefined. */
function isTrueOf({ operator, left, right, isNegated }: ResolvedComparison, caller: Collection): boolean | undefined {
  const known: Readonly<Record<string, string>> =
    caller === serviceAccount ? { type: 'service' } : { type: 'user', collection: caller.name };
  for (const [side, other] of [
    [left, right],
    [right, left],
  ] as const) {
    if (side.source !== 'request' || side.part !== 'auth') continue;
    const [member = ''] = side.path;
    // A value that a service key lacks is null, which equals nothing.
    if (caller === serviceAccount && member !== 'id' && member !== 'type') return false;
    if (side.isLowered || operator !== '=') continue;
    if (other.source === 'constant' && Object.hasOwn(known, member))
      return (known[member] === other.value) !== isNegated;
  }
  return undefined;
}
