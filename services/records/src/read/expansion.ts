import { type FieldAccess, limits } from '@recordbus/query';
import { type Collection, type Field, holdsRelations, quoteIdentifier } from '@recordbus/schema';
import { malformedParameter } from '@recordbus/shared/errors';
import { viewOf } from '../rules/field-rules.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';

/** A relation that an answer expands, and the relations expanded within its target. */
export interface Expansion {
  /** Name of the relation field. */
  readonly name: string;
  /** Quoted column of the field. */
  readonly column: string;
  /** Whether the field has a list of ids. */
  readonly isList: boolean;
  readonly target: Collection;
  /** What the view rules of the target's fields decide for the caller. */
  readonly view: FieldAccess;
  /** The view rule of the relation itself, if it has to be evaluated, and the collection of the relation. */
  readonly condition: { readonly rule: string; readonly collection: Collection } | undefined;
  /** Whether the target's view rule has to be evaluated for this caller. */
  readonly needsRuleCheck: boolean;
  /** Undefined at the end of a path. */
  readonly inner: readonly Expansion[] | undefined;
}

/** Each path is short, but planning a statement with many of them takes long. */
const maxExpansions = 50;

/** Most expansions of a page on the connections for pages that their clients did not shape. */
const fewExpansions = 3;

/** Whether the expansions of a page are a few rows of tables, each found by its primary key. */
export function areFew(expansions: readonly Expansion[]): boolean {
  const all = expansions.flatMap(withInner);
  return (
    all.length <= fewExpansions &&
    all.every(
      ({ target, isList, view, condition, needsRuleCheck }) =>
        target.type !== 'view' && !isList && !needsRuleCheck && !condition && view.conditional.size === 0,
    )
  );
}

const withInner = (expansion: Expansion): Expansion[] => [expansion, ...(expansion.inner ?? []).flatMap(withInner)];

interface Node {
  readonly field: Field;
  readonly condition: Expansion['condition'];
  readonly target: Collection;
  readonly inner: Map<string, Node>;
}

/**
 * Reads `expand`: comma-separated paths of relation fields (records §10.1). Throws 400 for an unknown path, one of more
 * than six relations, and more than fifty relations in all.
 */
export function readExpand(
  expand: string,
  collection: Collection,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): readonly Expansion[] {
  const root = new Map<string, Node>();
  let count = 0;
  for (const path of expand.split(',')) {
    const names = path.trim().split('.');
    if (names.length > limits.hops) throw refused(`a path follows at most ${limits.hops} relations`);
    let nodes = root;
    let from = collection;
    for (const [index, name] of names.entries()) {
      let node = nodes.get(name);
      if (!node) {
        // Errors name a target by its path: the caller may not know the name of its collection.
        const label = index === 0 ? collection.name : names.slice(0, index).join('.');
        node = findRelation(name, { from, label }, ruleContext);
        nodes.set(name, node);
        count += 1;
        if (count > maxExpansions) throw refused(`at most ${maxExpansions} relations can be expanded at once`);
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

function findRelation(
  name: string,
  { from, label }: Owner,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): Node {
  const { closed, conditional } = viewOf(from, ruleContext);
  const field = from.fields.find((candidate) => candidate.name === name);
  const target = field?.collection === undefined ? undefined : ruleContext.schema.findCollection(field.collection);
  // A relation that the caller never sees is like one that is not there.
  if (!field || !target || closed.has(name)) throw refused(`${label} has no relation ${JSON.stringify(name)}`);
  const rule = conditional.get(name);
  return { field, condition: rule === undefined ? undefined : { rule, collection: from }, target, inner: new Map() };
}

/**
 * The expansions that can show something. Targets for admins only are left out for other callers, whose lists of them
 * are empty.
 */
const expansionsOf = (
  nodes: ReadonlyMap<string, Node>,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): Expansion[] =>
  [...nodes.values()]
    .map(({ field, condition, target, inner }) => ({
      name: field.name,
      column: quoteIdentifier(field.name),
      isList: holdsRelations(field),
      target,
      view: viewOf(target, ruleContext),
      condition,
      needsRuleCheck: needsRuleCheck(target, 'view', ruleContext),
      inner: inner.size > 0 ? expansionsOf(inner, ruleContext) : undefined,
    }))
    .filter(({ target, isList, needsRuleCheck }) => isList || !(needsRuleCheck && target.rules.view === ''));

const refused = (problem: string) => malformedParameter('expand', problem);
