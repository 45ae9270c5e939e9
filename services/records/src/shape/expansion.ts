import { isDeepStrictEqual } from 'node:util';
import {
  createParameters,
  type FieldAccess,
  findVisibleReferrers,
  isVisible,
  type Link,
  limits,
} from '@recordbus/query';
import { type Collection, holdsRelations, quoteIdentifier } from '@recordbus/schema';
import { type CompileContext, clientScope } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';
import { needsRuleCheck } from '../rules/rule-context.ts';
import { readFilter, readSort } from './conditions.ts';
import {
  defaultOptions,
  type ExpandStep,
  type ReferrerOptions,
  readExpandPaths,
  refusedExpand,
} from './expand-paths.ts';

/** The referring records that an answer shows. */
export interface Referrers extends ReferrerOptions {
  readonly link: Link;
}

/** A relation or back-relation that an answer expands, and the relations expanded within its target. */
export interface Expansion {
  /** The relation field's or the back-relation's name. */
  readonly name: string;
  /** The field's quoted column; the id for a back-relation. */
  readonly column: string;
  /** Set for a back-relation. */
  readonly referrers: Referrers | undefined;
  /** Whether the field has a list of ids. */
  readonly isList: boolean;
  readonly target: Collection;
  /** What the target's field view rules decide for the caller. */
  readonly view: FieldAccess;
  /** The relation's own view rule, if it must be evaluated, and the relation's collection. */
  readonly condition: { readonly rule: string; readonly collection: Collection } | undefined;
  /** Whether the target's view rule must be evaluated for this caller. */
  readonly needsRuleCheck: boolean;
  /** Undefined where a path ends. */
  readonly inner: readonly Expansion[] | undefined;
}

/** Each path is short, but planning a statement with many of them takes long. */
const maxExpansions = 50;

/** How many expansions a page may have that is not a shaped read. */
const fewExpansions = 3;

/** Whether a page's expansions are a few table rows, each found by its primary key. */
export function areFew(expansions: readonly Expansion[]): boolean {
  const all = expansions.flatMap(withInner);
  return (
    all.length <= fewExpansions &&
    all.every(
      ({ target, isList, referrers, view, condition, needsRuleCheck }) =>
        target.type !== 'view' && !isList && !referrers && !needsRuleCheck && !condition && view.conditional.size === 0,
    )
  );
}

const withInner = (expansion: Expansion): Expansion[] => [expansion, ...(expansion.inner ?? []).flatMap(withInner)];

interface Node extends Pick<Expansion, 'name' | 'column' | 'isList' | 'referrers' | 'condition' | 'target'> {
  readonly inner: Map<string, Node>;
}

/**
 * Reads `expand`: comma-separated paths of relations and back-relations (records §10.1). Throws 400 for an unknown
 * path, a path over more than six relations, and more than fifty relations in all.
 */
export function readExpand(expand: string, collection: Collection, ruleContext: CompileContext): readonly Expansion[] {
  const root = new Map<string, Node>();
  let count = 0;
  for (const steps of readExpandPaths(expand)) {
    if (steps.length > limits.hops) throw refusedExpand(`a path follows at most ${limits.hops} relations`);
    let nodes = root;
    let from = collection;
    for (const [index, step] of steps.entries()) {
      const { name } = step;
      let node = nodes.get(name);
      if (node) refuseOtherOptions(node, step);
      else {
        // Errors name a target by its path, since the caller may not know its collection's name.
        const before = steps.slice(0, index).map((one) => one.name);
        const label = index === 0 ? collection.name : before.join('.');
        node = findRelation(step, { from, label }, ruleContext);
        nodes.set(name, node);
        count += 1;
        if (count > maxExpansions) throw refusedExpand(`at most ${maxExpansions} relations can be expanded at once`);
      }
      nodes = node.inner;
      from = node.target;
    }
  }
  return expansionsOf(root, ruleContext);
}

interface Owner {
  readonly from: Collection;
  /** Its name in errors. */
  readonly label: string;
}

function findRelation(step: ExpandStep, owner: Owner, ruleContext: CompileContext): Node {
  const { name } = step;
  const { from, label } = owner;
  const { closed, conditional } = viewOf(from, ruleContext);
  const field = from.fields.find((candidate) => candidate.name === name);
  const target = field?.collection === undefined ? undefined : ruleContext.schema.findCollection(field.collection);
  const referring = field ? undefined : findReferring(step, from, ruleContext);
  if (referring) return referring;
  // A relation that the caller never sees is treated like one that does not exist.
  if (!field || !target || closed.has(name)) throw refusedExpand(`${label} has no relation ${JSON.stringify(name)}`);
  if (step.options) throw refusedExpand(`${JSON.stringify(name)} is not a back-relation, and has no options`);
  const isList = holdsRelations(field);
  const condition = conditionOf(name, from, conditional);
  return { name, column: quoteIdentifier(name), isList, referrers: undefined, condition, target, inner: new Map() };
}

/** Finds a collection's back-relation; undefined if the caller may not name it. */
function findReferring(
  { name, options = defaultOptions }: ExpandStep,
  from: Collection,
  ruleContext: CompileContext,
): Node | undefined {
  const scope = clientScope(from, ruleContext);
  const found = findVisibleReferrers(name, from, scope);
  if (!found || !isVisible(found.collection, scope)) return undefined;
  const { collection: target, relation, link } = found;
  const condition = conditionOf(relation.name, target, viewOf(target, ruleContext).conditional);
  checkOptions(options, target, ruleContext);
  const referrers = { link, ...options };
  return { name, column: 'id', isList: false, referrers, condition, target, inner: new Map() };
}

/** Throws 400 for an invalid filter or sort. If `fields` leaves the records out, no statement would find the error. */
function checkOptions({ filter, sort }: ReferrerOptions, target: Collection, ruleContext: CompileContext): void {
  const place = { row: 't', parameters: createParameters(), isTable: true };
  if (filter !== undefined) readFilter(target, filter, place, ruleContext, 'expand');
  if (sort !== undefined) readSort(target, sort, place, ruleContext, 'expand');
}

function conditionOf(name: string, collection: Collection, rules: ReadonlyMap<string, string>): Expansion['condition'] {
  const rule = rules.get(name);
  return rule === undefined ? undefined : { rule, collection };
}

/** Throws 400 for a second path over a back-relation with other options. */
function refuseOtherOptions({ name, referrers }: Node, { options }: ExpandStep): void {
  if (!options) return;
  const { link: _link, ...given } = referrers ?? { link: undefined };
  if (!isDeepStrictEqual({ ...given }, { ...options }))
    throw refusedExpand(`${JSON.stringify(name)} is named twice, with different options`);
}

/**
 * The expansions that can show something. For other callers, targets that only admins may see are left out; lists with
 * them are empty.
 */
const expansionsOf = (nodes: ReadonlyMap<string, Node>, ruleContext: CompileContext): Expansion[] =>
  [...nodes.values()]
    .map(({ inner, target, ...node }) => ({
      ...node,
      target,
      view: viewOf(target, ruleContext),
      needsRuleCheck: needsRuleCheck(target, 'view', ruleContext),
      inner: inner.size > 0 ? expansionsOf(inner, ruleContext) : undefined,
    }))
    .filter(({ target, isList, needsRuleCheck }) => isList || !(needsRuleCheck && target.rules.view === ''));
