import type { Comparison, Expression, Operand } from '../language/ast.ts';
import { parse } from '../language/parser.ts';
import { visitExpression } from '../language/visit-expression.ts';
import { QueryError } from '../query-error.ts';

/** The properties that all callers of a kind share. */
export interface CallerKind {
  readonly type: string;
  /** The users' collection name. */
  readonly collection?: string | undefined;
}

/**
 * Whether a rule holds for every signed-in caller of a kind, whatever the record and the request are. It recognizes
 * rules that only test whether the caller is signed in, the caller's type, and the caller's collection. For every other
 * rule it is false.
 */
export function holdsForKind(rule: string, kind: CallerKind): boolean {
  try {
    return decide(parse(rule), kind) === true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

/** Undefined if it depends on more than the caller's kind. */
function decide(expression: Expression, kind: CallerKind): boolean | undefined {
  // A part that cannot be decided may be invalid, and an invalid rule admits nobody.
  const decideEach = (items: readonly Expression[]) => {
    const verdicts = items.map((item) => decide(item, kind));
    return verdicts.every((verdict) => verdict !== undefined) ? verdicts : undefined;
  };
  return visitExpression<boolean | undefined>(expression, {
    all: (items) => decideEach(items)?.every(Boolean),
    any: (items) => decideEach(items)?.some(Boolean),
    not(item) {
      const verdict = decide(item, kind);
      return verdict === undefined ? undefined : !verdict;
    },
    comparison: (test) => decideComparison(test, kind),
    in: () => undefined,
    quantified: () => undefined,
    exists: () => undefined,
  });
}

function decideComparison({ operator, left, right }: Comparison, kind: CallerKind): boolean | undefined {
  if (operator !== '=' && operator !== '!=') return undefined;
  const equal = areEqual(left, right, kind) ?? areEqual(right, left, kind);
  return equal === undefined ? undefined : equal === (operator === '=');
}

/** Whether a caller's member equals a literal. */
function areEqual(member: Operand, literal: Operand, kind: CallerKind): boolean | undefined {
  if (member.kind !== 'request' || member.modifier !== undefined || literal.kind !== 'text') return undefined;
  const [part, name, ...more] = member.segments;
  if (part !== 'auth' || more.length > 0) return undefined;
  // Every account and every key has an id.
  if (name === 'id') return literal.value === '' ? false : undefined;
  const value = name === 'type' ? kind.type : name === 'collection' ? kind.collection : undefined;
  return value === undefined ? undefined : value === literal.value;
}
