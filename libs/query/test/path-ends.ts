import type { Collection } from '@recordbus/schema';
import type { Situation } from './evaluator.ts';
import { kindOfMember, membersOf, NoSuchName, type Referrers, referrersOf } from './members.ts';
import { isFieldSeen, isViewable } from './sight.ts';
import { itemsOf, type Value } from './values.ts';
import type { Item } from './world.ts';

/** Where a path leads. */
export interface Ends {
  readonly values: readonly (Value & { readonly isMissing?: boolean })[];
  readonly isList?: boolean;
  readonly isSeveral?: boolean;
  readonly isReached?: boolean;
  /** The records at the end, when it is relations or records. */
  readonly records?: readonly Item[];
  /** How many entries the end has, when it is a list. */
  readonly entries?: number;
}

/** Follows a dotted path: relations by their fields, back-relations, keys in JSON. */
export function endsOf(segments: readonly string[], situation: Situation): Ends {
  if (situation.outer && segments.length > 1 && segments[0] === 'record')
    return endsOf(segments.slice(1), situation.outer);
  return follow(
    segments,
    { at: [situation], collection: situation.collection, isSeveral: false, isReached: true },
    situation,
  );
}

/** The records that the path has reached so far. */
interface Reached {
  readonly at: readonly Situation[];
  readonly collection: Collection;
  readonly isSeveral: boolean;
  /** Whether the record exists at which the path first branches. */
  readonly isReached: boolean;
}

function follow([name = '', ...rest]: readonly string[], reached: Reached, situation: Situation): Ends {
  const { collection } = reached;
  const { collections } = situation.world;
  const members = membersOf(collection);
  if (!members.has(name)) {
    const back = referrersOf(collection, collections).find((referrers) => referrers.name === name);
    if (!back) throw new NoSuchName(name);
    const next = step(reached, back.collection, true, (from) => referring(from, back));
    return rest.length > 0 ? follow(rest, next, situation) : recordEnds(next);
  }
  const field = members.get(name);
  const target = collections[field?.collection ?? ''];
  if (rest.length === 0 || !target) {
    const type = kindOfMember(name, field);
    if (rest.length > 0 && type !== 'json') throw new NoSuchName(name);
    return valueEnds(name, rest, reached, { type, target });
  }
  const isSeveral = field?.options.multiple === true;
  const next = step(reached, target, isSeveral, (from) => targetsOf(readMember(name, from), target, from));
  return follow(rest, next, situation);
}

/** The value that an expression reads from a record's member. */
function readMember(name: string, situation: Situation): unknown {
  const { collection, record } = situation;
  const field = membersOf(collection).get(name);
  return field && !isFieldSeen(field, situation) ? null : (record[name] ?? null);
}

/** Continues to another collection's visible records. */
function step(
  { at, isSeveral: wasSeveral, isReached }: Reached,
  collection: Collection,
  isSeveral: boolean,
  find: (from: Situation) => readonly Item[],
): Reached {
  const next = at.flatMap((from) =>
    find(from)
      .map((record) => ({ ...from, collection, record }))
      .filter((there) => isViewable({ ...there, outer: undefined })),
  );
  const isBefore = !wasSeveral && isSeveral;
  return {
    at: next,
    collection,
    isSeveral: wasSeveral || isSeveral,
    isReached: isBefore ? at.length > 0 : isReached,
  };
}

function targetsOf(value: unknown, { name }: Collection, { world }: Situation): Item[] {
  const ids = itemsOf(value);
  return (world.records[name] ?? []).filter(({ id }) => ids.includes(id));
}

function referring(from: Situation, { collection, relation }: Referrers): Item[] {
  return (from.world.records[collection.name] ?? []).filter((record) => {
    const value = readMember(relation.name, { ...from, collection, record, outer: undefined });
    return itemsOf(value).includes(from.record.id);
  });
}

function recordEnds({ at, isReached }: Reached): Ends {
  const records = at.map(({ record }) => record);
  return {
    values: records.map(({ id }) => ({ value: id, type: 'text' })),
    isList: true,
    isSeveral: true,
    isReached,
    records,
  };
}

function valueEnds(
  name: string,
  keys: readonly string[],
  { at, isSeveral, isReached }: Reached,
  { type, target }: { readonly type: Value['type']; readonly target: Collection | undefined },
): Ends {
  const ownValue = (from: Situation): Value => {
    const value = readMember(name, from);
    return { value: keys.length > 0 ? (keys.reduce(memberOf, value) ?? null) : value, type };
  };
  const values = at.map(ownValue);
  const isList = isSeveral || type === 'list';
  const counted = {
    isSeveral,
    ...(target && {
      records: at.flatMap((from) =>
        targetsOf(readMember(name, from), target, from).filter((record) =>
          isViewable({ ...from, collection: target, record, outer: undefined }),
        ),
      ),
    }),
    ...(type === 'list' && {
      entries: distinct(at).reduce((sum, from) => sum + itemsOf(readMember(name, from)).length, 0),
    }),
  };
  // A path to one value that leads to no record is null. A path to several records then has no value.
  if (values.length === 0 && !isSeveral)
    return { values: [{ value: null, type, isMissing: true }], isList, isReached: false, ...counted };
  return { values, isList, isReached: isSeveral ? isReached : at.length > 0, ...counted };
}

const distinct = (at: readonly Situation[]): Situation[] => [
  ...new Map(at.map((situation) => [situation.record.id, situation])).values(),
];

/** An object's member; null for anything else. */
export const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : null;
