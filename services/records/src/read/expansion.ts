import { limits } from '@recordbus/query';
import { type Collection, type Field, quoteIdentifier } from '@recordbus/schema';
import { malformed } from '@recordbus/shared/errors';
import { type Asking, isAsked } from '../rules/compile-rule.ts';

/** A relation that an answer follows, and those that it follows from there. */
export interface Expansion {
  /** Name of the relation field. */
  readonly name: string;
  /** Its column, quoted. */
  readonly column: string;
  readonly target: Collection;
  /** Has the target's view rule to be evaluated for this caller? */
  readonly isAsked: boolean;
  /** Undefined when the path ends here. */
  readonly inner: readonly Expansion[] | undefined;
}

/** A path is short, but many of them ask for a plan that takes long to make. */
const maxExpansions = 50;

interface Node {
  readonly field: Field;
  readonly target: Collection;
  readonly inner: Map<string, Node>;
}

/**
 * Reads `expand`: comma-separated paths of relation fields (interface §4.5). Throws 400 for a path that the collection
 * does not have, one of more than six relations (contract §2), and more than fifty relations in all.
 */
export function readExpand(
  expand: string,
  collection: Collection,
  asking: Pick<Asking, 'principal' | 'schema'>,
): readonly Expansion[] {
  const root = new Map<string, Node>();
  let count = 0;
  for (const path of expand.split(',')) {
    const names = path.trim().split('.');
    if (names.length > limits.hops) throw refused(`a path follows at most ${limits.hops} relations`);
    let nodes = root;
    let from = collection;
    for (const name of names) {
      let node = nodes.get(name);
      if (!node) {
        node = findRelation(name, from, asking);
        nodes.set(name, node);
        count += 1;
        if (count > maxExpansions) throw refused(`at most ${maxExpansions} relations can be expanded at once`);
      }
      nodes = node.inner;
      from = node.target;
    }
  }
  return expansionsOf(root, asking);
}

function findRelation(name: string, collection: Collection, { schema }: Pick<Asking, 'schema'>): Node {
  const field = collection.fields.find((candidate) => candidate.name === name);
  const target = field?.collection === undefined ? undefined : schema.findCollection(field.collection);
  if (!field || !target) throw refused(`${collection.name} has no relation ${JSON.stringify(name)}`);
  return { field, target, inner: new Map() };
}

/** Those that can show something: what is for admins only shows nothing to others, and is not asked for. */
const expansionsOf = (nodes: ReadonlyMap<string, Node>, asking: Pick<Asking, 'principal' | 'schema'>): Expansion[] =>
  [...nodes.values()]
    .map(({ field, target, inner }) => ({
      name: field.name,
      column: quoteIdentifier(field.name),
      target,
      isAsked: isAsked(target, 'view', asking.principal),
      inner: inner.size > 0 ? expansionsOf(inner, asking) : undefined,
    }))
    .filter(({ target, isAsked }) => !(isAsked && target.rules.view === ''));

const refused = (problem: string) => malformed(`expand: ${problem}`, { parameter: 'expand' });
