import { limits } from '@recordbus/query';
import { type Collection, type Field, holdsRelations, quoteIdentifier } from '@recordbus/schema';
import { malformedParameter } from '@recordbus/shared/errors';
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
    all.every(({ target, isList, needsRuleCheck }) => target.type !== 'view' && !isList && !needsRuleCheck)
  );
}

const withInner = (expansion: Expansion): Expansion[] => [expansion, ...(expansion.inner ?? []).flatMap(withInner)];

interface Node {
  readonly field: Field;
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

function findRelation(name: string, { from, label }: Owner, { schema }: Pick<RuleContext, 'schema'>): Node {
  const field = from.fields.find((candidate) => candidate.name === name);
  const target = field?.collection === undefined ? undefined : schema.findCollection(field.collection);
  if (!field || !target) throw refused(`${label} has no relation ${JSON.stringify(name)}`);
  return { field, target, inner: new Map() };
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
    .map(({ field, target, inner }) => ({
      name: field.name,
      column: quoteIdentifier(field.name),
      isList: holdsRelations(field),
      target,
      needsRuleCheck: needsRuleCheck(target, 'view', ruleContext),
      inner: inner.size > 0 ? expansionsOf(inner, ruleContext) : undefined,
    }))
    .filter(({ target, isList, needsRuleCheck }) => isList || !(needsRuleCheck && target.rules.view === ''));

const refused = (problem: string) => malformedParameter('expand', problem);
