import { type Atom, findAtom, meaningOfAtom, mirrored } from './atom.ts';
import { joinFrom, meaningOfGroup } from './group.ts';
import { andMeanings, type Meaning, orMeanings } from './meaning.ts';
import type { Several } from './path.ts';
import type { Scope, Side } from './side.ts';
import type { Tree } from './tree.ts';
import { Untranslatable } from './untranslatable.ts';

/** A tree with its names looked up. */
export type Expression = Atom | { readonly kind: 'and' | 'or'; readonly items: readonly Expression[] };

/** Looks up all names. Throws Untranslatable. */
export function findNames(tree: Tree, scope: Scope): Expression {
  if (tree.kind === 'comparison') return findAtom(tree, scope);
  return { kind: tree.kind, items: tree.items.map((item) => findNames(item, scope)) };
}

const maxBranches = 64;

/** Writes an expression in our language. Throws Untranslatable. */
export function createTranslator(scope: Scope): (expression: Expression) => Meaning {
  let branches = 0;
  return meaningOf;

  function meaningOf(expression: Expression): Meaning {
    if (expression.kind === 'or') return orMeanings(expression.items.map(meaningOf));
    return meaningOfAll(expression.kind === 'and' ? expression.items : [expression]);
  }

  /**
   * In PocketBase, comparisons over the same relation or collection share its rows: within a conjunction they are about the
   * same record. An alternative that shares rows with the rest is multiplied out.
   */
  function meaningOfAll(given: readonly Expression[]): Meaning {
    const items = given.flatMap((item) => (item.kind === 'and' ? item.items : [item]));
    if (items.some(({ kind }) => kind === 'and')) return meaningOfAll(items);
    const shared = sharedJoins(items);
    const alternative = items.find(
      (item) => item.kind === 'or' && atomsOf(item).some((atom) => joinsOf(atom).some(isIn(shared))),
    );
    if (alternative?.kind === 'or') {
      branches += alternative.items.length;
      if (branches > maxBranches) throw new Untranslatable('alternatives that share rows in too many ways');
      const others = items.filter((item) => item !== alternative);
      return orMeanings(alternative.items.map((item) => meaningOfAll([item, ...others])));
    }
    return andMeanings(meaningsOf(items, shared));
  }

  function meaningsOf(items: readonly Expression[], shared: ReadonlySet<string>): Meaning[] {
    const meanings: Meaning[] = [];
    const groups = new Map<string, Atom[]>();
    for (const item of items) {
      if (item.kind !== 'atom') {
        meanings.push(meaningOf(item));
        continue;
      }
      const joins = joinsOf(item).filter(
        (join) => join.startsWith('@join ') || (shared.has(join) && !holdsForAllRows(item)),
      );
      const [join] = joins;
      if (joins.length > 1) throw new Untranslatable('two joined collections compared with each other');
      if (join === undefined) meanings.push(meaningOfAtom(item, scope));
      else groups.set(join, [...(groups.get(join) ?? []), withJoinFirst(item)]);
    }
    return [
      ...meanings,
      ...[...groups.values()].map((atoms) => meaningOfGroup({ joined: joinedBy(atoms, scope), atoms }, scope)),
    ];
  }
}

const isIn = (names: ReadonlySet<string>) => (name: string) => names.has(name);

const atomsOf = (expression: Expression): Atom[] =>
  expression.kind === 'atom' ? [expression] : expression.items.flatMap(atomsOf);

function severalOf(side: Side): Several | undefined {
  if (side.kind === 'own') return side.path.several;
  return side.kind === 'caller' ? side.value.path.several : undefined;
}

/** The joins whose rows a comparison reads. */
function joinsOf({ left, right }: Atom): string[] {
  const joins = [left, right].flatMap((side) => {
    const several = severalOf(side);
    if (side.kind === 'joined') return [`@join ${side.join}`];
    return several ? [several.join] : [];
  });
  return [...new Set(joins)];
}

/** Puts the side with the join first. */
function withJoinFirst(atom: Atom): Atom {
  const { left, right, operator } = atom;
  if (left.kind === 'joined' || severalOf(left)) return atom;
  const swapped = mirrored[operator];
  if (!swapped) throw new Untranslatable(`${operator} with several values on the right`);
  return { ...atom, left: right, right: left, operator: swapped };
}

/** Whether a comparison that holds does so for every row, so that it does not matter which row another one takes. */
function holdsForAllRows({ left, right, operator, isAny }: Atom): boolean {
  if (isAny) return false;
  const isPure = [left, right].every((side) => severalOf(side)?.isPure !== false);
  const isEmptyTest = right.kind === 'literal' && right.literal.type === 'empty';
  return isPure || operator === '!=' || (operator === '=' && isEmptyTest);
}

/** The joins that several items' comparisons share, in a way that matters. */
function sharedJoins(items: readonly Expression[]): Set<string> {
  const readers = new Map<string, { items: number; choosing: number; atoms: number }>();
  for (const item of items) {
    const seen = new Set<string>();
    for (const atom of atomsOf(item)) {
      for (const join of joinsOf(atom)) {
        const reader = readers.get(join) ?? { items: 0, choosing: 0, atoms: 0 };
        if (!seen.has(join)) reader.items += 1;
        seen.add(join);
        reader.atoms += 1;
        if (!holdsForAllRows(atom)) reader.choosing += 1;
        readers.set(join, reader);
      }
    }
  }
  const matters = ([join, reader]: [string, { items: number; choosing: number }]) =>
    reader.items > 1 &&
    (join.startsWith('@join ') || reader.choosing > 1 || (reader.choosing === 1 && hasImpure(items, join)));
  return new Set([...readers].filter(matters).map(([join]) => join));
}

/** Whether a plain comparison over the join may pass by rows without a value. */
const hasImpure = (items: readonly Expression[], join: string): boolean =>
  items.flatMap(atomsOf).some((atom) => !atom.isAny && joinsOf(atom).includes(join) && !holdsForAllRows(atom));

function joinedBy(atoms: readonly Atom[], scope: Scope) {
  const [first] = atoms;
  if (!first) throw new Untranslatable('no comparison');
  if (first.left.kind === 'joined') {
    const { left } = first;
    if (atoms.some((atom) => atom.left.kind === 'joined' && atom.left.collection.id !== left.collection.id))
      throw new Untranslatable('one alias for two collections');
    return left;
  }
  const several = severalOf(first.left);
  if (!several?.from) throw new Untranslatable('several comparisons of the same value of a list');
  if (atoms.some((atom) => !atom.isAny))
    throw new Untranslatable('plain operators over the same relation as one with ?');
  if (atoms.some((atom) => severalOf(atom.left)?.join !== several.join))
    throw new Untranslatable('several values compared with several');
  return joinFrom(several.from, several.join, scope);
}
