import {
  isOwnMember,
  type Note,
  renamesOf,
  type StoredCollection,
  type StoredField,
  type TranslatedCollection,
  translateCollection,
  translateView,
} from '@recordbus/pocketbase/collections';
import { createDirectory, type Directory } from '@recordbus/pocketbase/rules';
import { findCollectionNameProblem, findFieldNameProblem } from '@recordbus/schema';
import { CommandFailure } from '@recordbus/stack-calls';
import type { MoveOptions } from './options.ts';
import { quoted, type Source } from './source.ts';

/** The collections to move, in our form. */
export interface PreparedMove {
  readonly directory: Directory;
  readonly collections: readonly TranslatedCollection[];
  readonly notes: readonly Note[];
}

/** Chooses the collections and translates them. Throws CommandFailure for names that cannot be here. */
export function prepareMove(source: Source, { only, map = {}, views: how }: MoveOptions): PreparedMove {
  const own = source.collections.filter(isOwn);
  refuseUnknown('--only', only ?? [], own);
  refuseUnknown('--map', Object.keys(map), own);
  const isTaken = ({ name }: StoredCollection) => only === undefined || only.includes(name);
  const taken = own.filter((collection) => isTaken(collection) && collection.type !== 'view');
  const views = own.filter((collection) => isTaken(collection) && collection.type === 'view');
  refuseNames([...taken, ...views], map);
  const renames = renamesOf(source.collections, map, {
    findCollectionProblem: findCollectionNameProblem,
    findFieldProblem: findFieldNameProblem,
  });
  const directory = createDirectory(source.collections, renames);
  const byId = new Map(taken.map((collection) => [collection.id, collection]));
  const targetOf = (id: string) => {
    const target = byId.get(id);
    return target && directory.nameOf(target);
  };
  const collections = taken.map((collection) =>
    translateCollection(collection, {
      directory,
      targetOf,
      lackingOf: (field) => countLacking(source, collection, field, byId),
    }),
  );
  const notes: Note[] = [];
  for (const view of views) {
    const translated = how === 'skip' ? { why: '--views skip' } : translateView(view, directory);
    if ('why' in translated) notes.push(leftOutView(view, translated.why));
    else collections.push(translated);
  }
  return { directory, collections, notes };
}

/** Whether a collection is the app's, and not one of PocketBase's own. */
export const isOwn = ({ name }: StoredCollection): boolean => !name.startsWith('_');

/** The report's line about a view that is not taken. */
export const leftOutView = ({ name, options }: StoredCollection, why: string): Note => ({
  collection: name,
  kind: 'left_out',
  text: `the view (${why}): ${options.viewQuery ?? ''}`,
});

function refuseUnknown(option: string, names: readonly string[], collections: readonly StoredCollection[]): void {
  const unknown = names.filter((name) => !collections.some((collection) => collection.name === name));
  if (unknown.length > 0)
    throw new CommandFailure(`${option} names ${unknown.join(', ')}: PocketBase has no such collection.`);
}

function refuseNames(collections: readonly StoredCollection[], map: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  for (const { name } of collections) {
    const here = map[name] ?? name;
    const problem = findCollectionNameProblem(here);
    if (problem)
      throw new CommandFailure(
        `The collection ${name} cannot be called ${here} here (${problem}): rename it with --map.`,
      );
    if (seen.has(here.toLowerCase()))
      throw new CommandFailure(`Two collections would be called ${here}: change --map.`);
    seen.add(here.toLowerCase());
  }
}

/** Counts the records without a value that PocketBase requires, or only with ids that nothing has. */
function countLacking(
  source: Source,
  collection: StoredCollection,
  { name, type, collectionId, maxSelect }: StoredField,
  byId: ReadonlyMap<string, StoredCollection>,
): number {
  if (isOwnMember(collection, name)) return 0;
  const column = `t.${quoted(name)}`;
  const empty = `${column} is null or ${column} = '' or ${column} = '[]'`;
  const target = type === 'relation' ? byId.get(collectionId ?? '') : undefined;
  if (!target) return source.countWhere(collection.name, empty);
  const has = (id: string) => `exists (select 1 from ${quoted(target.name)} o where o."id" = ${id})`;
  const found =
    (maxSelect ?? 1) > 1
      ? `case when json_valid(${column}) then exists (select 1 from json_each(${column}) e where ${has('e.value')}) else ${has(column)} end`
      : has(column);
  return source.countWhere(collection.name, `${empty} or not (${found})`);
}
