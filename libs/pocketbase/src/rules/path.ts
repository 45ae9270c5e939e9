import type { Directory, PocketBaseCollection, PocketBaseField } from './definitions.ts';
import { MissingName, Untranslatable } from './untranslatable.ts';

/**
 * How a value is stored and compared. `text` keeps `""`; `choice` (select, relation, file with one value) and `date` are null
 * when they are empty; `list` is a field with several values as a whole, `entries` are its values.
 */
export type Kind = 'id' | 'text' | 'choice' | 'number' | 'bool' | 'date' | 'json' | 'point' | 'list' | 'entries';

/** A path over relations to a field. Texts are in our language, relative to the record where the path begins. */
export interface Path {
  readonly text: string;
  readonly kind: Kind;
  readonly collection: PocketBaseCollection;
  readonly field: PocketBaseField;
  readonly modifier: 'lower' | 'length' | undefined;
  /** Whether PocketBase refuses to store it empty. */
  readonly isRequired: boolean;
  /** Whether it is an account's address that may be empty in PocketBase: here it is then a made-up one. */
  readonly isAddress?: boolean;
  /** The single relation before the end, which may be empty: `author` in `author.name`. */
  readonly hop: string | undefined;
  readonly several: Several | undefined;
}

/** What a path to several values goes through. */
export interface Several {
  /** PocketBase's join: paths with the same one share its rows. */
  readonly join: string;
  /** The records, or the list, at the end. */
  readonly records: string;
  /** Whether each joined row has a value: nothing after it may be missing. */
  readonly isPure: boolean;
  /** How to begin again at the join's records; undefined for lists without records. */
  readonly from: From | undefined;
}

export interface From {
  readonly collection: PocketBaseCollection;
  /** Which records in the collection: those in a list, or those that refer by a relation. */
  readonly by: { readonly in: string } | { readonly relation: string; readonly isList: boolean; readonly to: string };
  /** The rest of the path, as PocketBase writes it. */
  readonly rest: readonly string[];
}

interface Walk {
  readonly text: string;
  readonly source: string;
  readonly hop: string | undefined;
  readonly several: Several | undefined;
}

const modifiers = new Set(['each', 'length', 'lower', 'isset', 'changed']);
const maxRelations = 6;

export const isMultiple = ({ type, maxSelect }: PocketBaseField): boolean =>
  ['select', 'relation', 'file'].includes(type) && (maxSelect ?? 1) > 1;

/** Follows a path as PocketBase writes it. Throws Untranslatable for names that are not there or that rules here cannot name. */
export function findPath(segments: readonly string[], collection: PocketBaseCollection, directory: Directory): Path {
  if (segments.length > maxRelations + 1) throw new Untranslatable(`more than ${maxRelations} relations in a path`);
  return follow(segments, collection, { text: '', source: '', hop: undefined, several: undefined }, directory);
}

const dotted = (before: string, name: string) => (before === '' ? name : `${before}.${name}`);

function follow(
  [segment = '', ...rest]: readonly string[],
  collection: PocketBaseCollection,
  walk: Walk,
  directory: Directory,
): Path {
  const field = collection.fields.find(({ name }) => name === segment);
  if (rest.length === 0) return endAt(segment, collection, walk, directory);
  if (field?.type === 'json') return endInJson(field, rest, collection, walk, directory);
  if (field?.type === 'geoPoint') throw new Untranslatable(`a part of the point ${field.name}`);
  if (!field) return followBack(segment, rest, collection, walk, directory);
  const target = field.type === 'relation' ? directory.find(field.collectionId ?? '') : undefined;
  if (!target) throw new MissingName(`${collection.name} has no relation "${segment}"`);
  const text = dotted(walk.text, directory.fieldNameOf(collection, field.name));
  const source = dotted(walk.source, field.name);
  if (rest.length === 1 && rest[0] === 'id')
    return endAt(isMultiple(field) ? `${segment}:each` : segment, collection, walk, directory);
  if (!isMultiple(field)) {
    const several = walk.several && { ...walk.several, records: text, isPure: false };
    return follow(rest, target, { text, source, hop: text, several }, directory);
  }
  return follow(
    rest,
    target,
    {
      text,
      source,
      hop: undefined,
      several: branch(walk, source, text, { collection: target, by: { in: text }, rest }),
    },
    directory,
  );
}

function branch({ several }: Walk, join: string, records: string, from: From | undefined): Several {
  return several ? { ...several, records, isPure: false } : { join, records, isPure: true, from };
}

function followBack(
  segment: string,
  rest: readonly string[],
  collection: PocketBaseCollection,
  walk: Walk,
  directory: Directory,
): Path {
  const at = segment.indexOf('_via_');
  const back = at > 0 ? directory.find(segment.slice(0, at)) : undefined;
  const field = back?.fields.find(({ name }) => name === segment.slice(at + '_via_'.length));
  if (!back || field?.type !== 'relation' || field.collectionId !== collection.id)
    throw new MissingName(`${collection.name} has no field "${segment}"`);
  const relation = directory.fieldNameOf(back, field.name);
  const text = dotted(walk.text, `${directory.nameOf(back)}_via_${relation}`);
  const source = dotted(walk.source, segment);
  const by = { relation, isList: isMultiple(field), to: dotted(walk.text, 'id') };
  return follow(
    rest,
    back,
    { text, source, hop: undefined, several: branch(walk, source, text, { collection: back, by, rest }) },
    directory,
  );
}

function endAt(segment: string, collection: PocketBaseCollection, walk: Walk, directory: Directory): Path {
  const [name = '', modifier, ...more] = segment.split(':');
  const field = collection.fields.find((candidate) => candidate.name === name);
  if (!field) throw new MissingName(`${collection.name} has no field "${name}"`);
  if (more.length > 0 || (modifier !== undefined && !modifiers.has(modifier)))
    throw new Untranslatable(`the modifier in ${segment}`);
  if (modifier === 'isset' || modifier === 'changed') throw new Untranslatable(`:${modifier} of a stored field`);
  if (field.type === 'password' || name === 'tokenKey') throw new Untranslatable(`${name} cannot be named here`);
  // An account always has an address here, and null stands for a record that is not reached.
  const isAccountAddress = name === 'email' && collection.type === 'auth';
  const kind = isAccountAddress ? 'choice' : kindOf(field);
  const text = dotted(walk.text, directory.fieldNameOf(collection, name));
  const isAddress = isAccountAddress && field.required !== true;
  const isValues = kind === 'list' || (kind === 'choice' && !isAccountAddress);
  if (modifier === 'length' && !isValues) throw new Untranslatable(`:length of ${name}, which PocketBase ignores`);
  if (modifier === 'lower' && !['text', 'choice', 'id'].includes(kind)) throw new Untranslatable(`:lower of ${name}`);
  const end = { text, collection, field, hop: walk.hop, isRequired: isNeverEmpty(field), isAddress };
  if (modifier !== 'each' || kind !== 'list')
    return {
      ...end,
      kind,
      several: walk.several,
      modifier: modifier === 'each' ? undefined : (modifier as 'lower' | 'length' | undefined),
    };
  const target = field.type === 'relation' ? directory.find(field.collectionId ?? '') : undefined;
  const from = target && { collection: target, by: { in: text }, rest: ['id'] };
  const several = branch(walk, dotted(walk.source, name), text, from);
  return { ...end, kind: 'entries', several, modifier: undefined };
}

function endInJson(
  field: PocketBaseField,
  keys: readonly string[],
  collection: PocketBaseCollection,
  walk: Walk,
  directory: Directory,
): Path {
  if (keys.some((key) => !/^[A-Za-z_]\w*$/.test(key))) throw new Untranslatable(`the path into ${field.name}`);
  const text = [dotted(walk.text, directory.fieldNameOf(collection, field.name)), ...keys].join('.');
  return {
    text,
    kind: 'json',
    collection,
    field,
    hop: walk.hop,
    several: walk.several,
    isRequired: false,
    modifier: undefined,
  };
}

/** Numbers and bools are never empty: PocketBase stores 0 and false. */
const isNeverEmpty = (field: PocketBaseField): boolean =>
  field.name === 'id' ||
  field.type === 'autodate' ||
  field.type === 'number' ||
  field.type === 'bool' ||
  field.required === true;

/** How the field's values are stored and compared. */
export function kindOf(field: PocketBaseField): Kind {
  if (field.name === 'id') return 'id';
  switch (field.type) {
    case 'number':
    case 'bool':
    case 'json':
      return field.type;
    case 'date':
    case 'autodate':
      return 'date';
    case 'geoPoint':
      return 'point';
    case 'select':
    case 'relation':
    case 'file':
      return isMultiple(field) ? 'list' : 'choice';
    case 'text':
    case 'editor':
    case 'email':
    case 'url':
      return 'text';
    default:
      throw new Untranslatable(`the field type ${field.type}`);
  }
}
