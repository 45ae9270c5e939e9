import type { Atom } from './atom.ts';
import { compareOwn, compareOwnWithCaller } from './atom.ts';
import { and, type Condition, exists, not, or, test } from './condition.ts';
import { andMeanings, exactly, type Meaning } from './meaning.ts';
import { commonGroup, comparePair } from './pairs.ts';
import { type From, findPath, type Path } from './path.ts';
import { compareWith, isSeveral } from './several.ts';
import type { Joined, Scope, Side } from './side.ts';
import { Untranslatable } from './untranslatable.ts';
import { ownValue } from './values.ts';

/** Comparisons about the same joined record. */
export interface Group {
  readonly joined: Joined;
  readonly atoms: readonly Atom[];
}

/** Joins what a path to several records begins with. */
export function joinFrom({ collection, by, rest }: From, join: string, scope: Scope): Joined {
  const outer = (text: string) => (text.startsWith('@request.') ? text : `record.${text}`);
  const relation = 'relation' in by ? by.relation : undefined;
  const link =
    'in' in by
      ? `id in ${outer(by.in)}`
      : by.isList
        ? `${outer(by.to).replace(/\.id$/, '.id')} in ${relation}`
        : `${relation} = ${outer(by.to)}`;
  return {
    kind: 'joined',
    join,
    collection: scope.directory.find(collection.id) ?? collection,
    rest,
    link,
    isSingle: false,
  };
}

/** Says comparisons about the same record as one `exists`; plain operators also ask every other record. */
export function meaningOfGroup({ joined, atoms }: Group, scope: Scope): Meaning {
  const { collection, link, isSingle } = joined;
  const inner: Scope = { ...scope, collection };
  const rows = atoms.map((atom) => meaningOfRow(atom, joined, inner, isSingle));
  const name = scope.directory.nameOf(collection);
  const linked = (condition: Condition) => exists(name, link === undefined ? condition : and(test(link), condition));
  const isFalseWithout = atoms.some((atom) => isFalseWithoutRecord(atom));
  const plain = rows.filter((_, index) => !isSingle && atoms[index]?.isAny === false);
  const all = andMeanings(rows);
  if (!isFalseWithout) {
    const [only] = atoms;
    if (atoms.length > 1 || only?.operator !== '!=' || isSingle)
      throw new Untranslatable('a joined collection that may have no record');
    // Without any record, PocketBase compares with null, which differs.
    if (!only.isAny) return { ...all, condition: not(linked(equalRow(only, joined, inner))) };
    return { ...all, condition: or(linked(all.condition), not(linked('always'))) };
  }
  if (plain.length === 0) return { ...all, condition: linked(all.condition) };
  const violated = linked(not(and(...plain.map(({ condition }) => condition))));
  return { ...all, condition: and(linked(all.condition), not(violated)) };
}

const equalRow = (atom: Atom, joined: Joined, inner: Scope): Condition =>
  meaningOfRow({ ...atom, operator: '=' }, joined, inner, false).condition;

/** Whether a comparison fails where no record is joined, so that its value is null. */
function isFalseWithoutRecord({ operator, right }: Atom): boolean {
  if (operator !== '=' && operator !== '!=') return true;
  if (right.kind === 'literal') return (right.literal.type === 'empty') === (operator === '!=');
  if (operator === '!=') return false;
  if (right.kind === 'own') return right.path.isRequired && right.path.hop === undefined;
  return right.kind === 'caller';
}

function innerPath(rest: readonly string[], inner: Scope): Path {
  const path = findPath(rest, inner.collection, inner.directory);
  if (path.text.startsWith('record.')) throw new Untranslatable('a relation called record in a joined collection');
  return path;
}

/** Says one comparison about the joined record. */
function meaningOfRow(atom: Atom, joined: Joined, inner: Scope, isSingle: boolean): Meaning {
  const { operator, right } = atom;
  const path = innerPath(restOf(atom.left, joined), inner);
  const isAny = atom.isAny || isSingle;
  if (!isAny && (isSeveral(path) || path.hop !== undefined))
    throw new Untranslatable('a plain operator over relations of a joined collection');
  if (right.kind === 'joined') {
    if (right.join !== joined.join) throw new Untranslatable('two joined collections compared with each other');
    if (!isAny) throw new Untranslatable('all records of a joined collection compared with all of them');
    const other = innerPath(right.rest, inner);
    if (isSeveral(path) || isSeveral(other)) throw new Untranslatable('several values compared with several');
    return exactly(comparePair(ownValue(path), operator, ownValue(other), inner.near));
  }
  if (right.kind === 'own') return exactly(compareWithOuter(path, operator, isAny, right.path, inner));
  if (right.kind === 'caller') return compareOwnWithCaller(path, operator, true, right.value, inner);
  return { ...compareOwn(path, operator, true, right, inner), needs: [] };
}

function compareWithOuter(
  path: Path,
  operator: Atom['operator'],
  isAny: boolean,
  outer: Path,
  inner: Scope,
): Condition {
  if (isSeveral(outer)) throw new Untranslatable('several values compared with several');
  const value = ownValue(outer, 'outer');
  if (!isSeveral(path)) return comparePair(ownValue(path), operator, value, inner.near);
  commonGroup(path.kind, outer.kind);
  if (!isAny || operator !== '=' || value.empty !== 'never')
    throw new Untranslatable('several values compared with a field that may be empty');
  return compareWith(path, operator, true, { text: value.text, isKnown: false });
}

function restOf(left: Side, joined: Joined): readonly string[] {
  if (left.kind === 'joined') return left.rest;
  const path = left.kind === 'own' ? left.path : left.kind === 'caller' ? left.value.path : undefined;
  return path?.several?.from?.rest ?? joined.rest;
}
