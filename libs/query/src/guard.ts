import type { Collection } from '@recordbus/schema';
import type { Expression } from './ast.ts';
import { parse } from './parser.ts';
import { QueryError } from './query-error.ts';
import { resolve } from './resolve.ts';
import type { Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';

/**
 * Returns the condition under which an expression of this scope sees a record of the collection: for a client, the
 * collection's list rule. That rule crosses into other collections without guards, so rules that name each other's
 * collections do not recurse (filters §7.3).
 */
export function guardOf(collection: Collection, { schema, audience }: Scope): Resolved | undefined {
  const rule = collection.rules.list;
  if (audience !== 'client' || rule === null) return undefined;
  if (rule === '') return { kind: 'decided', holds: false };
  try {
    return resolve(parseListRule(collection, rule), { collection, schema, audience: 'rule' });
  } catch (error) {
    // A rule that cannot be compiled admits nobody. The client's filter is not the cause.
    if (error instanceof QueryError) return { kind: 'decided', holds: false };
    throw error;
  }
}

const parsed = new WeakMap<Collection, Expression>();

function parseListRule(collection: Collection, rule: string): Expression {
  let expression = parsed.get(collection);
  if (!expression) {
    expression = parse(rule);
    parsed.set(collection, expression);
  }
  return expression;
}
