import type { ValueKind } from '@recordbus/schema';
import { errorAt } from '../query-error.ts';
import { readLiteral, type Value } from './literal.ts';
import {
  type Form,
  hasSeveralValues,
  type RequestPart,
  type Resolved,
  type ResolvedComparison,
  type Scalar,
  type Source,
} from './resolved.ts';

/** One side of a comparison, before the comparison's kind is known. */
export type Side =
  | { readonly type: 'null'; readonly position: number }
  | { readonly type: 'literal'; readonly literal: Value; readonly position: number }
  | { readonly type: 'known'; readonly source: Source; readonly kind: ValueKind; readonly position: number }
  /** A value that no such caller has. */
  | { readonly type: 'absent'; readonly position: number }
  | Pending;

/** A request value, which is read as the other side's kind. */
export interface Pending {
  readonly type: 'pending';
  readonly part: RequestPart;
  readonly path: readonly string[];
  /** The body field's kind, for another side without a kind. */
  readonly kind?: ValueKind | undefined;
  readonly position: number;
}

/** A comparison's operator and form. */
export interface Comparing extends Form {
  readonly operator: ResolvedComparison['operator'];
  /** Whether it is within `all` or `none`, which test a list's entries rather than the whole list. */
  readonly isOfEntries?: boolean;
}

/** Resolves a comparison to one kind. Throws QueryError for sides that this operator cannot compare (filters §5.4). */
export function compareAsOneKind(comparing: Comparing, left: Side, right: Side): Resolved {
  if (left.type === 'absent' || right.type === 'absent') return { kind: 'decided', holds: false, lacksCaller: true };
  if (left.type === 'null' || right.type === 'null') return testForNull(comparing, left, right);
  if (comparing.operator === '~') return findWithin(comparing, left, right);
  const as = kindOfBoth(left, right);
  if (as === 'vector') throw refused(left, 'a vector can only be compared with null');
  if (as !== 'list') return inForm({ ...comparing, left: settle(left, as), right: settle(right, as), as });
  return compareList(comparing, left, right);
}

function compareList({ isOfEntries, ...given }: Comparing, left: Side, right: Side): Resolved {
  const { operator } = given;
  if (operator !== '=' && operator !== 'in') throw refused(left, 'a list has no order');
  const list = kindOf(left) === 'list' ? 'left' : 'right';
  // An empty list has no entry, not even null.
  const comparing = { ...given, operator: list === 'left' && isOfEntries ? 'in' : operator } as const;
  if (list === 'left' && kindOf(right) === 'list') {
    if (operator === '=') throw refused(left, 'two lists cannot be compared');
    return inForm({ ...comparing, left: settleList(left), right: settleList(right), as: 'list', list });
  }
  const [a, b] =
    list === 'left' ? [settleList(left), settle(right, 'text')] : [settle(left, 'text'), settleList(right)];
  return inForm({ ...comparing, left: a, right: b, as: 'list', list });
}

/** A test on a single value needs only one negation. */
function inForm({
  isOfEntries: _,
  ...comparison
}: Omit<ResolvedComparison, 'kind'> & Pick<Comparing, 'isOfEntries'>): ResolvedComparison {
  const { left, list, isNegated, negatesValue } = comparison;
  if (list === 'left' || hasSeveralValues(left)) return { kind: 'comparison', ...comparison };
  return { kind: 'comparison', ...comparison, isNegated: isNegated !== negatesValue, negatesValue: false };
}

function testForNull({ operator, isNegated, negatesValue }: Comparing, left: Side, right: Side): Resolved {
  if (operator !== '=') throw refused(left, 'null can only be tested with = and !=');
  const side = left.type === 'null' ? right : left;
  const isInverted = isNegated !== negatesValue;
  if (side.type === 'null') return { kind: 'decided', holds: !isInverted };
  if (side.type === 'literal') return { kind: 'decided', holds: isInverted };
  const operand = side.type === 'known' ? side.source : settle(side, 'json');
  if (hasSeveralValues(operand)) return { kind: 'nullTest', operand, isNegated, negatesValue };
  return { kind: 'nullTest', operand, isNegated: isInverted, negatesValue: false };
}

/** Substring search reads every value as its JSON text, and a list item by item (filters §5.6, §6.4). */
function findWithin(comparing: Comparing, left: Side, right: Side): Resolved {
  if (kindOf(left) === 'vector' || kindOf(right) === 'vector') throw refused(left, 'a vector holds no text');
  if (kindOf(right) === 'list') throw refused(right, 'a list can only be on the left of ~');
  const needle = asText(right);
  if (kindOf(left) === 'list')
    return inForm({ ...comparing, left: settleList(left), right: needle, as: 'list', list: 'left' });
  return inForm({ ...comparing, left: asText(left), right: needle, as: 'text' });
}

const asText = (side: Side): Source => (side.type === 'known' ? side.source : settle(side, 'text'));

/** A comparison's kind: the column's, or the body field's, or the literals'. */
function kindOfBoth(left: Side, right: Side): ValueKind {
  const [a, b] = [firmKind(left), firmKind(right)];
  if (a !== undefined && b !== undefined) return commonKind(a, b, left);
  const firm = a ?? b ?? kindOf(left) ?? kindOf(right);
  if (firm !== undefined) return firm;
  const literals = [left, right].flatMap((side) => (side.type === 'literal' ? [side.literal.kind] : []));
  return (['bool', 'number', 'text'] as const).find((kind) => literals.includes(kind)) ?? 'json';
}

/** A list in the body stays a list: the other side is one of its items. */
const firmKind = (side: Side): ValueKind | undefined =>
  side.type === 'known' || (side.type === 'pending' && side.kind === 'list') ? side.kind : undefined;

/** A side's kind, if it has one by itself. */
export const kindOf = (side: Side): ValueKind | undefined =>
  side.type === 'known' || side.type === 'pending' ? side.kind : undefined;

function commonKind(a: ValueKind, b: ValueKind, side: Side): ValueKind {
  if (a === b) return a;
  const kinds = [a, b];
  if (kinds.includes('vector')) return 'vector';
  if (kinds.includes('list') && kinds.includes('text')) return 'list';
  if (kinds.includes('json') && !kinds.includes('list')) return 'json';
  if (kinds.includes('number') && kinds.includes('date')) return 'number';
  throw refused(side, `a ${a} and a ${b} cannot be compared`);
}

function settle(side: Side, kind: Scalar): Source {
  switch (side.type) {
    case 'known':
      return side.source;
    case 'literal':
      return readLiteral(side.literal, kind);
    case 'pending':
      return { source: 'request', part: side.part, path: side.path, kind, isLowered: false };
    default:
      throw refused(side, 'null has no kind');
  }
}

const settleList = (side: Side): Source =>
  side.type === 'pending'
    ? { source: 'request', part: side.part, path: side.path, kind: 'list', isLowered: false }
    : settle(side, 'text');

const refused = ({ position }: Side, problem: string) => errorAt(problem, position);
