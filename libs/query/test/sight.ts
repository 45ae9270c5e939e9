import type { Collection, Field, Rule } from '@recordbus/schema';
import type { RequestValues } from '../src/index.ts';
import type { Expression, Operand } from '../src/language/ast.ts';
import { parse } from '../src/language/parser.ts';
import { evaluate, type Situation } from './evaluator.ts';
import { NoSuchName } from './members.ts';
import { isFixedOfCaller, operandsIn } from './operands.ts';
import { endsOf } from './path-ends.ts';
import type { World } from './world.ts';

/** The names that callers of one kind (guests, or one collection's accounts) may use. */
export interface Sight {
  seesRecords(collection: Collection): boolean;
  seesField(collection: Collection, field: Field): boolean;
}

/** Rules and admins may name everything. */
export const fullSight: Sight = { seesRecords: () => true, seesField: () => true };

/** Returns the names that clients with such an account, or guests, may use (filters §7.3, §7.8). */
export function sightOf(world: World, account: Collection | undefined): Sight {
  const isOpen = (rule: Rule) => rule === null || (rule !== '' && mayHold(parseRule(rule), { world, account }));
  return {
    // Guests may see no record in a collection with an expression, but they may name it.
    seesRecords: ({ rules }) => rules.view !== '',
    seesField: (_, { viewRule = null }) => isOpen(viewRule),
  };
}

/** Whether an expression with this audience sees the record. */
export const isViewable = (situation: Situation): boolean => holdsFor(situation.collection.rules.view, situation);

/** Whether an expression with this audience sees a field in the record. */
export const isFieldSeen = ({ viewRule = null }: Field, situation: Situation): boolean => holdsFor(viewRule, situation);

function holdsFor(rule: Rule, situation: Situation): boolean {
  if (situation.audience !== 'client' || rule === null) return true;
  const { request, collection, record } = situation;
  const ofRequest = verdicts.get(request) ?? new Map<string, boolean>();
  verdicts.set(request, ofRequest);
  const key = `${collection.name} ${record.id} ${rule}`;
  const verdict =
    ofRequest.get(key) ??
    (rule !== '' && evaluate(parseRule(rule), { ...situation, audience: 'rule', outer: undefined }));
  ofRequest.set(key, verdict);
  return verdict;
}

/** The rules' results for records, by request. */
const verdicts = new WeakMap<RequestValues, Map<string, boolean>>();

const parsed = new Map<string, Expression>();

function parseRule(rule: string): Expression {
  const expression = parsed.get(rule) ?? parse(rule);
  parsed.set(rule, expression);
  return expression;
}

interface Caller {
  readonly world: World;
  readonly account: Collection | undefined;
}

/** Whether a rule may hold for callers of this kind. A test on a value that they never have does not (fields §5.2). */
function mayHold(rule: Expression, caller: Caller, isNegated = false): boolean {
  switch (rule.kind) {
    case 'all':
    case 'any': {
      const holds = (item: Expression) => mayHold(item, caller, isNegated);
      return (rule.kind === 'all') === isNegated ? rule.items.some(holds) : rule.items.every(holds);
    }
    case 'not':
      return mayHold(rule.item, caller, !isNegated);
    case 'quantified':
      return mayHold(rule.test, caller, isNegated !== (rule.quantifier === 'none'));
    default: {
      if (operandsIn(rule).some((operand) => isNeverThere(operand, caller))) return false;
      const verdict = rule.kind === 'comparison' ? verdictOf(rule.left, rule.right, caller) : undefined;
      if (verdict === undefined || rule.kind !== 'comparison') return true;
      if (rule.operator !== '=' && rule.operator !== '!=') return true;
      return (verdict === (rule.operator === '=')) !== isNegated;
    }
  }
}

/** Whether the operand is a caller value that no such caller has. */
function isNeverThere(operand: Operand, { world, account }: Caller): boolean {
  const path = operand.kind === 'count' ? operand.of : operand;
  if (path.kind !== 'request' || path.segments[0] !== 'auth') return false;
  if (!account) return true;
  if (isFixedOfCaller(path.segments)) return false;
  const request = { method: '', auth: undefined, body: undefined, query: () => undefined, header: () => undefined };
  try {
    endsOf(path.segments.slice(1), { world, collection: account, record: {}, request, audience: 'rule' });
    return false;
  } catch (error) {
    if (error instanceof NoSuchName) return true;
    throw error;
  }
}

/** Whether the two sides are equal, if that is the same for all such callers. */
function verdictOf(left: Operand, right: Operand, { account }: Caller): boolean | undefined {
  const [a, b] = [left, right].map((side) =>
    side.kind === 'request' && side.modifier === undefined ? constantOf(side.segments, account) : undefined,
  );
  const literals = [left, right].filter(({ kind }) => ['null', 'text', 'number', 'bool'].includes(kind));
  const [literal] = literals;
  if (literals.length === 2 && literals.some(({ kind }) => kind === 'null'))
    return literals.every(({ kind }) => kind === 'null');
  const known = a ?? b;
  if (known === undefined || !literal || literal.kind === 'null') return undefined;
  return known === (literal.kind === 'number' ? literal.digits : 'value' in literal && String(literal.value));
}

function constantOf(segments: readonly string[], account: Collection | undefined): string | undefined {
  const known: Readonly<Record<string, string | undefined>> = { 'auth.type': 'user', 'auth.collection': account?.name };
  return known[segments.join('.')];
}
