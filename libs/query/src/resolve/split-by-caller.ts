import { isOfCaller } from './caller-values.ts';
import type { Resolved } from './resolved.ts';
import { sourcesIn } from './visit-resolved.ts';

/** Parts of an expression; at least one must hold. */
interface Parts {
  /** The part that is the same for every caller. */
  readonly everyone: Resolved;
  readonly others: Resolved;
}

/**
 * Splits an expression in which a branch of an `||` reads nothing from the request: `public = true || owner =
 * @request.auth.id`. Undefined if there is no such branch.
 */
export function splitByCaller(expression: Resolved): Parts | undefined {
  if (expression.kind === 'any') {
    const alike = expression.items.filter((item) => !readsRequest(item));
    const others = expression.items.filter(readsRequest);
    if (alike.length === 0 || others.length === 0) return undefined;
    return { everyone: { kind: 'any', items: alike }, others: { kind: 'any', items: others } };
  }
  if (expression.kind !== 'all') return undefined;
  for (const [index, item] of expression.items.entries()) {
    const parts = splitByCaller(item);
    if (!parts) continue;
    const withPart = (part: Resolved): Resolved => ({ kind: 'all', items: expression.items.with(index, part) });
    return { everyone: withPart(parts.everyone), others: withPart(parts.others) };
  }
  return undefined;
}

/** Whether an expression reads a value of the request. */
export const readsRequest = (expression: Resolved): boolean =>
  sourcesIn(expression).some(
    (source) =>
      source.source === 'request' || source.source === 'isset' || source.source === 'changed' || isOfCaller(source),
  );
