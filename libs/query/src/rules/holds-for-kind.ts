import type { Comparison, Expression, Operand } from '../language/ast.ts';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';

/** The properties that all callers of a kind share. */
export interface CallerKind {
  readonly type: string;
  /** The name of the users' collection. */
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

/** Undefined if it depends on more than the kind of the caller. */
function decide(expression: Expression, kind: CallerKind): boolean | undefined {
  switch (expression.kind) {
    case 'comparison':
      return decideComparison(expression, kind);
    case 'not': {
      const item = decide(expression.item, kind);
      return item === undefined ? undefined : !item;
    }
    case 'all':
    case 'any': {
      // A part that cannot be decided may be invalid, and an invalid rule admits nobody.
      const items = expression.items.map((item) => decide(item, kind));
      if (items.includes(undefined)) return undefined;
      return expression.kind === 'all' ? items.every(Boolean) : items.some(Boolean);
    }
    default:
      return undefined;
  }
}

function decideComparison({ operator, left, right }: Comparison, kind: CallerKind): boolean | undefined {
  if (operator !== '=' && operator !== '!=') return undefined;
  const equal = areEqual(left, right, kind) ?? areEqual(right, left, kind);
  return equal === undefined ? undefined : equal === (operator === '=');
}

/** Whether a member of the caller equals a literal. */
function areEqual(member: Operand, literal: Operand, kind: CallerKind): boolean | undefined {
  if (member.kind !== 'request' || member.modifier !== undefined || literal.kind !== 'text') return undefined;
  const [part, name, ...more] = member.segments;
  if (part !== 'auth' || more.length > 0) return undefined;
  // Every account and every key has an id.
  if (name === 'id') return literal.value === '' ? false : undefined;
  const value = name === 'type' ? kind.type : name === 'collection' ? kind.collection : undefined;
  return value === undefined ? undefined : value === literal.value;
}
