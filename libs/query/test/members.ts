import type { Collection, Field } from '@recordbus/schema';
import type { Value } from './values.ts';
import type { World } from './world.ts';

const systemKinds: Readonly<Record<string, Value['type']>> = {
  id: 'text',
  created: 'date',
  updated: 'date',
  email: 'text',
  verified: 'bool',
  anonymous: 'bool',
};
const ofRecords = ['id', 'created', 'updated'];
const ofAccounts = ['email', 'verified', 'anonymous'];

type Members = ReadonlyMap<string, Field | undefined>;
const known = new WeakMap<Collection, Members>();

/** Record members by name, with the definitions of those that are fields. */
export function membersOf(collection: Collection): Members {
  const { type, fields } = collection;
  const members =
    known.get(collection) ??
    new Map([
      ...[...ofRecords, ...(type === 'auth' ? ofAccounts : [])].map((name) => [name, undefined] as const),
      ...fields.map((field) => [field.name, field] as const),
    ]);
  known.set(collection, members);
  return members;
}

/** Whether no expression may name the field (filters §4.2). */
export const isHidden = ({ type, options }: Field): boolean => type === 'password' || options.encrypted === true;

/** The kind of a member's values; undefined for an unknown name. */
export function kindOfMember(name: string, field: Field | undefined): Value['type'] {
  if (!field) return systemKinds[name];
  if (field.options.multiple) return 'list';
  return kinds[field.type] ?? 'text';
}

const kinds: Readonly<Record<string, Value['type']>> = {
  number: 'number',
  bool: 'bool',
  date: 'date',
  autodate: 'date',
  json: 'json',
  geoPoint: 'json',
  vector: 'vector',
};

/** A collection's records that refer to another one's. */
export interface Referrers {
  readonly name: string;
  readonly collection: Collection;
  readonly relation: Field;
}

/** A collection's back-relations. */
export const referrersOf = (target: Collection, collections: World['collections']): Referrers[] =>
  Object.values(collections).flatMap((collection) =>
    collection.fields
      .filter((field) => field.collection === target.name)
      .map((relation) => ({ name: `${collection.name}_via_${relation.name}`, collection, relation })),
  );

/** The collection has no such name. */
export class NoSuchName extends Error {}
