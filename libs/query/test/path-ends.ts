import type { Collection, Field } from '@recordbus/schema';
import { isViewable, type Situation } from './evaluator.ts';
import { itemsOf, type Value } from './values.ts';
import type { Item } from './world.ts';

/** Where a path leads. */
export interface Ends {
  readonly values: readonly (Value & { readonly isMissing?: boolean })[];
  readonly isList?: boolean;
  readonly isReached?: boolean;
  /** The records at the end, when it is relations or records. */
  readonly records?: readonly Item[];
  /** The number of entries, when the end is a list. */
  readonly entries?: number;
}

/** Follows a dotted path: relations by their fields, back-relations, keys of JSON. */
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
  /** Whether the record is there from which the first several come. */
  readonly isReached: boolean;
}

function follow([name = '', ...rest]: readonly string[], reached: Reached, situation: Situation): Ends {
  const { collection } = reached;
  const field = fieldOf(collection, name);
  const type = typeOfField(field, name);
  const { world } = situation;
  const back =
    field || ['id', 'created', 'updated'].includes(name) ? undefined : backOf(name, collection, world.collections);
  if (back) {
    const next = step(reached, back.collection, true, (record) => referring(record, back, situation));
    return rest.length > 0 ? follow(rest, next, situation) : recordEnds(next);
  }
  const target = world.collections[field?.collection ?? ''];
  if (rest.length === 0 || !target) return valueEnds(name, rest, reached, { type, target }, situation);
  const isSeveral = field?.options.multiple === true;
  const next = step(reached, target, isSeveral, (record) => targetsOf(record[name], target, situation));
  return follow(rest, next, situation);
}

/** Goes on to the records of another collection, as far as they are seen. */
function step(
  { at, isSeveral: wasSeveral, isReached }: Reached,
  collection: Collection,
  isSeveral: boolean,
  find: (record: Item) => readonly Item[],
): Reached {
  const next = at.flatMap((from) =>
    find(from.record)
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

function referring(record: Item, { collection, relation }: Back, { world }: Situation): Item[] {
  return (world.records[collection.name] ?? []).filter((other) => itemsOf(other[relation]).includes(record.id));
}

function recordEnds({ at, isReached }: Reached): Ends {
  const records = at.map(({ record }) => record);
  return { values: records.map(({ id }) => ({ value: id, type: 'text' })), isList: true, isReached, records };
}

function valueEnds(
  name: string,
  keys: readonly string[],
  { at, isSeveral, isReached }: Reached,
  { type, target }: { readonly type: Value['type']; readonly target: Collection | undefined },
  situation: Situation,
): Ends {
  const ownValue = ({ record }: Situation): Value => {
    const value = record[name] ?? null;
    return { value: keys.length > 0 ? (keys.reduce(memberOf, value) ?? null) : value, type };
  };
  const values = at.map(ownValue);
  const isList = isSeveral || type === 'list';
  const counted = {
    ...(target && {
      records: at.flatMap((from) =>
        targetsOf(from.record[name], target, situation).filter((record) =>
          isViewable({ ...from, collection: target, record, outer: undefined }),
        ),
      ),
    }),
    ...(type === 'list' && { entries: distinct(at).reduce((sum, from) => sum + itemsOf(from.record[name]).length, 0) }),
  };
  // A path to one value that leads nowhere is null; one to several has no value then.
  if (values.length === 0 && !isSeveral)
    return { values: [{ value: null, type, isMissing: true }], isList, isReached: false, ...counted };
  return { values, isList, isReached: isSeveral ? isReached : at.length > 0, ...counted };
}

const distinct = (at: readonly Situation[]): Situation[] => [
  ...new Map(at.map((situation) => [situation.record.id, situation])).values(),
];

/** The collection has no such name. */
export class NoSuchName extends Error {}

interface Back {
  readonly collection: Collection;
  readonly relation: string;
}

function backOf(name: string, target: Collection, collections: Readonly<Record<string, Collection>>): Back {
  for (const collection of Object.values(collections))
    for (const field of collection.fields)
      if (field.collection === target.name && name === `${collection.name}_via_${field.name}`)
        return { collection, relation: field.name };
  throw new NoSuchName(name);
}

/** The field of this name. */
export const fieldOf = (collection: Collection, name: string): Field | undefined =>
  collection.fields.find((field) => field.name === name);

/** The type of a field's values. */
export function typeOfField(field: Field | undefined, name: string): Value['type'] {
  if (!field) return name === 'id' ? 'text' : 'date';
  if (field.options.multiple) return 'list';
  const types: Record<string, Value['type']> = {
    number: 'number',
    bool: 'bool',
    date: 'date',
    json: 'json',
    geoPoint: 'json',
  };
  return types[field.type] ?? 'text';
}

/** A member of an object; null of anything else. */
export const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : null;
