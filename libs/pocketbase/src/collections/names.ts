import type { Renames } from '../rules/index.ts';
import type { StoredCollection } from './definition.ts';

/** What a name may not be here, for the caller to say. */
export interface NameChecks {
  /** What is wrong with a collection's name; undefined for nothing. */
  findCollectionProblem(name: string): string | undefined;
  /** What is wrong with a field's name. */
  findFieldProblem(name: string, type: StoredCollection['type']): string | undefined;
}

/** Fields that a record has here without a definition, by PocketBase's names. */
const ownMembers: Readonly<Record<StoredCollection['type'], readonly string[]>> = {
  base: ['id'],
  auth: ['id', 'email', 'verified', 'password', 'tokenKey'],
  view: ['id'],
};

/** `@request.auth.<name>` has another meaning here. */
const callerNames = new Set(['type', 'collection']);

/** Whether the record has the field here without a definition. */
export const isOwnMember = ({ type, fields }: StoredCollection, name: string): boolean =>
  ownMembers[type].includes(name) ||
  ((name === 'created' || name === 'updated') &&
    fields.some((field) => field.name === name && field.type === 'autodate'));

/** Names that are taken, or mean something else here, get `_`. `map` has the collections' new names. */
export function renamesOf(
  collections: readonly StoredCollection[],
  map: Readonly<Record<string, string>>,
  { findFieldProblem }: NameChecks,
): Renames & { readonly fields: Readonly<Record<string, Readonly<Record<string, string>>>> } {
  const fields = collections.map((collection): [string, Record<string, string>] => {
    const names = new Set(collection.fields.map(({ name }) => name.toLowerCase()));
    const renamed = collection.fields.flatMap(({ name }): [string, string][] => {
      if (isOwnMember(collection, name)) return [];
      const isCallers = collection.type === 'auth' && callerNames.has(name);
      if (!isCallers && !findFieldProblem(name, collection.type)) return [];
      let free = `${/^[A-Za-z]/.test(name) ? name : `f${name}`}_`.slice(0, 60).replace(/[^A-Za-z0-9_]/g, '_');
      while (names.has(free.toLowerCase()) || findFieldProblem(free, collection.type)) free += '_';
      names.add(free.toLowerCase());
      return [[name, free]];
    });
    return [collection.name, Object.fromEntries(renamed)];
  });
  return { collections: map, fields: Object.fromEntries(fields.filter(([, names]) => Object.keys(names).length > 0)) };
}
