import type { Membership, Operand } from '../language/ast.ts';
import { limits } from '../limits.ts';
import { errorAt } from '../query-error.ts';
import { isOfCaller, type OfCaller } from './caller-values.ts';
import { findSide } from './find-side.ts';
import { compareAsOneKind, kindOf, type Side } from './one-kind.ts';
import { type Form, hasSeveralValues, type Resolved, type ResolvedComparison } from './resolved.ts';
import type { Scope } from './scope.ts';

/** Resolves `in`. Throws QueryError for items that are not values, and for a path to a single value. */
export function resolveMembership({ left: operand, among, position }: Membership, scope: Scope, form: Form): Resolved {
  const left = findSide(operand, scope);
  const comparing = { operator: 'in', ...form } as const;
  if (isItems(among)) {
    const items = among.map((item) => findItem(item, scope));
    return joinItems(
      items.map((item) => compareAsOneKind(comparing, left, item)),
      form,
      position,
    );
  }
  const right = findSide(among, scope);
  if (!hasSeveral(right)) throw errorAt('in takes a list, or a path to several records', among.position);
  return compareAsOneKind(comparing, left, right);
}

const isItems = (among: Membership['among']): among is readonly Operand[] => Array.isArray(among);

const hasSeveral = (side: Side): boolean =>
  side.type === 'absent' || kindOf(side) === 'list' || (side.type === 'known' && hasSeveralValues(side.source));

function findItem(item: Operand, scope: Scope): Side {
  const isValue = ['text', 'number', 'bool', 'moment', 'request'].includes(item.kind);
  const side = isValue ? findSide(item, scope) : undefined;
  if (!side || (side.type !== 'absent' && hasSeveral(side)))
    throw errorAt('an item in in (…) must not be null', item.position);
  return side;
}

/** Joins the comparisons with each item to one. Items of several kinds stay separate comparisons. */
function joinItems(tests: readonly Resolved[], form: Form, position: number): Resolved {
  const absent = tests.find((test) => test.kind === 'decided' && test.lacksCaller);
  if (absent) return absent;
  const comparisons = tests.filter((test): test is ResolvedComparison => test.kind === 'comparison');
  const [first] = comparisons;
  const items = comparisons.map(({ right }) => right);
  const isOneKind = comparisons.length === tests.length && comparisons.every(({ as }) => as === first?.as);
  if (first && isOneKind) return { ...first, right: { source: 'several', items } };
  if (form.negatesValue) throw errorAt('the items in in (…) must have one kind', position);
  if (tests.length > limits.terms)
    throw errorAt(`more than ${limits.terms} items in in (…) must have one kind, all texts or all numbers`, position);
  if (form.isNegated) return { kind: 'all', items: tests };
  // If the caller lacks one of the values, the test does not hold, even if another item is equal (rules §4.4).
  return { kind: 'all', items: [...items.filter(isOfCaller).map(isThere), { kind: 'any', items: tests }] };
}

const isThere = (operand: OfCaller): Resolved => ({ kind: 'nullTest', operand, isNegated: true, negatesValue: false });
