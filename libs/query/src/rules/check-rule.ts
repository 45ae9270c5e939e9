import type { Collection } from '@recordbus/schema';
import type { Expression } from '../language/ast.ts';
import { operandsIn } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { errorAt, QueryError } from '../query-error.ts';
import { findInAccount, isCallerPath } from '../resolve/caller-path.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Scope } from '../resolve/scope.ts';

/** Where a rule is checked. */
interface CheckScope extends Omit<Scope, 'audience' | 'caller' | 'outer'> {
  /** The collections with accounts. */
  readonly accounts: readonly Collection[];
}

/**
 * Checks a rule before its collection is saved. Throws QueryError for one that cannot be compiled for some kind of
 * caller, and for a caller path that no account collection has.
 */
export function checkRule(text: string, { accounts, ...scope }: CheckScope): void {
  const expression = parse(text);
  for (const caller of [undefined, ...accounts]) resolve(expression, { ...scope, audience: 'rule', caller });
  refuseUnknownPaths(expression, { accounts, ...scope });
}

function refuseUnknownPaths(expression: Expression, { accounts, ...scope }: CheckScope): void {
  for (const { operand } of operandsIn(expression)) {
    if (operand.kind !== 'request' || !isCallerPath(operand)) continue;
    const isKnown = accounts.some((caller) => findInAccount(operand, { ...scope, audience: 'rule', caller }));
    if (isKnown) continue;
    const path = `@request.${operand.segments.join('.')}`;
    if (operand.segments.length === 2) throw new QueryError(`there is no ${path}`, operand.position);
    throw errorAt(`no account has ${path}`, operand.position);
  }
}
