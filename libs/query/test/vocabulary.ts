import type { Collection } from '@recordbus/schema';
import { isHidden, kindOfMember, membersOf, referrersOf } from './members.ts';
import type { Sight } from './sight.ts';
import type { Value } from './values.ts';
import type { World } from './world.ts';

/** A path that an expression may use, possibly with a modifier. */
export interface Word {
  readonly path: string;
  /** How many relations are on the way. */
  readonly hops: number;
  /** Whether it leads to several records. */
  readonly isSeveral: boolean;
}

type Kind = Exclude<Value['type'], undefined>;

/** Paths by their values' kinds, paths to records and lists that are counted, and paths to points. */
export type Words = Readonly<Record<Kind | 'counts' | 'points', readonly Word[]>>;

type Group = keyof Words;
const groups = ['text', 'number', 'bool', 'date', 'list', 'json', 'vector', 'counts', 'points'] as const;

/** Words in each group. */
export const mapWords = (words: (group: Group) => readonly Word[]): Words =>
  Object.fromEntries(groups.map((group) => [group, words(group)])) as Words;

const jsonKeys: Readonly<Record<string, readonly string[]>> = {
  json: ['.a', '.a.b', '.bb', '.0'],
  geoPoint: ['.lat'],
};
/** The kinds that modifiers give a kind. */
const modified: Readonly<Partial<Record<Kind, readonly (readonly [Kind, string])[]>>> = {
  text: [
    ['text', ':lower'],
    ['number', ':length'],
  ],
  list: [['number', ':length']],
  json: [
    ['text', ':lower'],
    ['number', ':length'],
  ],
};

/** Every path with visible names from a collection over at most this many relations. */
export function findWords(
  collection: Collection,
  collections: World['collections'],
  { sight, maxHops }: { readonly sight: Sight; readonly maxHops: number },
): Words {
  const found = Object.fromEntries(groups.map((group) => [group, [] as Word[]])) as Record<Group, Word[]>;
  walk(collection, { path: '', hops: 0, isSeveral: false });
  return found;

  function add(kind: Kind, word: Word): void {
    found[kind].push(word);
    for (const [as, modifier] of modified[kind] ?? []) found[as].push({ ...word, path: word.path + modifier });
  }

  function walk(at: Collection, { path, hops, isSeveral }: Word): void {
    if (!sight.seesRecords(at) && hops > 0) return;
    const to = (name: string) => ({ path: path + name, hops, isSeveral });
    const follow = (target: Collection, name: string, isMany: boolean) =>
      hops < maxHops && walk(target, { path: `${path}${name}.`, hops: hops + 1, isSeveral: isSeveral || isMany });
    for (const [name, field] of membersOf(at)) {
      if (field && (isHidden(field) || !sight.seesField(at, field))) continue;
      const kind = kindOfMember(name, field) ?? 'text';
      add(kind, to(name));
      for (const keys of jsonKeys[field?.type ?? ''] ?? []) add('json', to(name + keys));
      if (field?.type === 'geoPoint') found.points.push(to(name));
      if (kind === 'list' || field?.collection !== undefined) found.counts.push(to(name));
      const target = collections[field?.collection ?? ''];
      if (target) follow(target, name, field?.options.multiple === true);
    }
    for (const { name, collection: referring, relation } of referrersOf(at, collections)) {
      if (!sight.seesRecords(referring) || !sight.seesField(referring, relation)) continue;
      const ids = { path: path + name, hops: hops + 1, isSeveral: true };
      found.text.push(ids);
      found.counts.push(ids);
      follow(referring, name, true);
    }
  }
}

/** Request paths by kind. A value under `any` has the other side's kind. */
export type RequestWords = Words & { readonly any: readonly Word[] };

const plain = (path: string): Word => ({ path, hops: 0, isSeveral: false });
const fixed: Readonly<Partial<Record<Group, readonly string[]>>> = {
  text: [
    '@request.auth.id',
    '@request.auth.email:lower',
    '@request.auth.type',
    '@request.auth.collection',
    '@request.method',
  ],
  bool: ['@request.auth.verified', '@request.query.q:isset', '@request.headers.none:isset'],
};

/** The request paths that a collection's rule may read. */
export function findRequestWords(
  collection: Collection,
  collections: World['collections'],
  { sight, readsBody }: { readonly sight: Sight; readonly readsBody: boolean },
): RequestWords {
  const accounts = Object.values(collections)
    .filter(({ type }) => type === 'auth')
    .map((account) => findWords(account, collections, { sight, maxHops: 2 }));
  const fields = readsBody ? collection.fields.filter(({ type }) => bodyTypes.has(type)) : [];
  const body = (test: (type: string) => boolean, end: string) =>
    fields.filter(({ type }) => test(type)).map(({ name }) => plain(`@request.body.${name}${end}`));
  const isAny = () => true;
  const words = mapWords((group) => [
    ...(fixed[group] ?? []).map(plain),
    ...accounts.flatMap((account) => account[group].map((word) => ({ ...word, path: `@request.auth.${word.path}` }))),
    ...(group === 'bool' ? [...body(isAny, ':isset'), ...body(isAny, ':changed')] : []),
  ]);
  const any = [
    ...['@request.query.q', '@request.headers.h', ...(readsBody ? ['@request.body.id'] : [])].map(plain),
    ...[...body(isAny, ''), ...body((type) => type === 'text', ':lower'), ...body((type) => type === 'json', '.a')],
  ];
  return { ...words, any };
}

/** The types that test requests have in their bodies. */
export const bodyTypes: ReadonlySet<string> = new Set(['text', 'number', 'bool', 'date', 'select', 'json']);
