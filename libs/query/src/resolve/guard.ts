import type { Collection } from '@recordbus/schema';
import type { Expression } from '../language/ast.ts';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';
import { canHold } from './can-hold.ts';
import { resolve } from './resolve.ts';
import type { Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';

type GuardScope = Pick<Scope, 'schema' | 'audience' | 'caller'>;

/**
 * Returns the condition under which an expression in this scope sees a record: for a client, the collection's view
 * rule. That rule crosses into other collections without guards, so rules that name each other's collections do not
 * recurse (filters §7.3).
 */
export function guardOf(collection: Collection, { schema, audience, caller }: GuardScope): Resolved | undefined {
  const rule = collection.rules.view;
  if (audience !== 'client' || rule === null) return undefined;
  if (rule === '') return nobody;
  try {
    const guard = resolve(parseViewRule(collection, rule), { collection, schema, audience: 'rule', caller });
    // A statement that reads no hidden record at all takes the same time whatever they contain.
    return canHold(guard, caller) ? guard : nobody;
  } catch (error) {
    // A rule that cannot be compiled admits nobody. The client's filter is not the cause.
    if (error instanceof QueryError) return nobody;
    throw error;
  }
}

const nobody: Resolved = { kind: 'decided', holds: false };

/**
 * Whether an expression in this scope may name the collection. A client may, unless only admins see its records: a rule
 * that holds for no record yet makes them match nothing, and the names are the same for all callers (filters §7.3).
 */
export const isNamed = ({ rules }: Collection, { audience }: Pick<Scope, 'audience'>): boolean =>
  audience !== 'client' || rules.view !== '';

/** Whether callers of this kind may ever see a record in the collection. */
export function isVisible(collection: Collection, scope: GuardScope): boolean {
  const guard = guardOf(collection, scope);
  return guard === undefined || canHold(guard, scope.caller);
}

const parsed = new WeakMap<Collection, Expression>();

function parseViewRule(collection: Collection, rule: string): Expression {
  let expression = parsed.get(collection);
  if (!expression) {
    expression = parse(rule);
    parsed.set(collection, expression);
  }
  return expression;
}
