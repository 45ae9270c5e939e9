import type { Exists, Expression, Operand, Quantified, Test } from '../language/ast.ts';
import { visitExpression } from '../language/visit-expression.ts';
import { errorAt, UnknownName } from '../query-error.ts';
import { lacksCaller } from './caller-values.ts';
import { findSide } from './find-side.ts';
import { guardOf, isNamed } from './guard.ts';
import { type Comparing, compareAsOneKind, type Side } from './one-kind.ts';
import { resolveCount } from './resolve-count.ts';
import { resolveMembership } from './resolve-membership.ts';
import type { Resolved } from './resolved.ts';
import type { Scope } from './scope.ts';

/**
 * Looks up every name in an expression, reads each literal as the other side's kind, and moves `not` to the tests.
 * Throws QueryError for an unknown field and for sides that cannot be compared.
 */
export function resolve(expression: Expression, scope: Scope, isNegated = false): Resolved {
  const each = (items: readonly Expression[]) => items.map((item) => resolve(item, scope, isNegated));
  const test = (one: Test) =>
    resolveTest(one, scope, { isNegated: isNegated !== isNegative(one), negatesValue: false });
  return visitExpression<Resolved>(expression, {
    all: (items) => ({ kind: isNegated ? 'any' : 'all', items: each(items) }),
    any: (items) => ({ kind: isNegated ? 'all' : 'any', items: each(items) }),
    not: (item) => resolve(item, scope, !isNegated),
    comparison: test,
    in: test,
    quantified: (quantified) => resolveQuantified(quantified, scope, isNegated),
    exists: (exists) => resolveExists(exists, scope, isNegated),
  });
}

const isNegative = (test: Test): boolean =>
  test.kind === 'comparison' && (test.operator === '!=' || test.operator === '!~');

function resolveTest(test: Test, scope: Scope, form: Omit<Comparing, 'operator'>): Resolved {
  if (test.kind === 'in') return resolveMembership(test, scope, form);
  const { operator, left, right } = test;
  const positive = operator === '!=' ? '=' : operator === '!~' ? '~' : operator;
  const comparing = { operator: positive, ...form } as const;
  const sides = [findSide(left, scope), findRightSide(right, scope)] as const;
  return resolveCount(joinRecords(compareAsOneKind(comparing, ...sides), scope));
}

/** A single unknown word on the right is most likely a text without quotes. */
function findRightSide(right: Operand, scope: Scope): Side {
  try {
    return findSide(right, scope);
  } catch (error) {
    if (!(error instanceof UnknownName) || right.kind !== 'path' || right.segments.length > 1) throw error;
    throw new UnknownName(`${error.message}; a text needs quotes: "${right.segments.join()}"`, error.position);
  }
}

/**
 * Within `exists`, two records without a value are not equal (filters §7.5). An equation that holds for two nulls could
 * not use an index.
 */
function joinRecords(resolved: Resolved, { outer }: Scope): Resolved {
  if (!outer || resolved.kind !== 'comparison' || resolved.operator !== '=') return resolved;
  const { left, right } = resolved;
  const isJoin = left.source === 'column' && right.source === 'column' && left.up !== right.up;
  return isJoin ? { ...resolved, operator: 'in' } : resolved;
}

/** `none` holds if no value passes, `all` if no value fails (filters §5.8). */
function resolveQuantified({ quantifier, test, position }: Quantified, scope: Scope, isNegated: boolean): Resolved {
  const { kind } = test.left;
  if (kind !== 'path' && kind !== 'request') throw errorAt(`${quantifier} takes a path on the left`, position);
  const negatesValue = (quantifier === 'all') !== isNegative(test);
  return resolveTest(test, scope, { isNegated: !isNegated, negatesValue, isOfEntries: true });
}

function resolveExists({ collection: name, condition, position }: Exists, scope: Scope, isNegated: boolean): Resolved {
  const { schema, audience, caller } = scope;
  const target = schema.findCollection(name);
  if (!target || !isNamed(target, scope)) throw new UnknownName(`there is no collection "${name}"`, position);
  const guard = guardOf(target, scope);
  const inner = resolve(condition, { collection: target, schema, audience, caller, outer: scope });
  if (lacksCaller(inner)) return { kind: 'decided', holds: false, lacksCaller: true };
  return { kind: 'exists', isNegated, from: { target, guard }, condition: inner };
}
