import type { Collection } from '@recordbus/schema';
import type { Expression } from './ast.ts';
import { parse } from './parser.ts';
import { QueryError } from './query-error.ts';
import { resolve } from './resolve.ts';
import type { Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';

/**
 * What a record of the collection must satisfy before an expression of this scope sees it: its list rule, for a
 * client. That rule itself crosses freely, so rules that name each other's collections end here.
 */
export function guardOf(collection: Collection, { schema, writtenBy }: Scope): Resolved | undefined {
  const rule = collection.rules.list;
  if (writtenBy !== 'client' || rule === null) return undefined;
  if (rule === '') return { kind: 'decided', holds: false };
  try {
    return resolve(parseListRule(collection, rule), { collection, schema, writtenBy: 'rule' });
  } catch (error) {
    // A rule that is not understood lets nobody through, and is not this client's mistake.
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
