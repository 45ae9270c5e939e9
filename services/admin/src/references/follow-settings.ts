import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { findReferences, QueryError, type Reference, renameInExpression } from '@recordbus/query';
import { type Collection, loadCollections } from '@recordbus/schema';
import { findNamedKey, namedKey } from '@recordbus/settings';
import { findRenamed, type Renamed } from './find-renamed.ts';
import { type FollowedFamily, findFollowedFamily, followedFamilies } from './followed-families.ts';
import { keyOf, refusalOf } from './lost-reference.ts';

/** A setting with expressions. */
export interface FollowedSetting {
  readonly key: string;
  readonly value: string;
}

/** Reads the settings with expressions. */
export const readFollowedSettings = (query: Query): Promise<FollowedSetting[]> =>
  query<FollowedSetting>({
    text: `select key, value from system.settings
      where exists (select from unnest($1::text[]) as given (prefix) where starts_with(key, prefix)) order by key`,
    values: [followedFamilies.map(({ family }) => namedKey(family, ''))],
  });

/** The collections and the settings from before a change. */
interface Before {
  readonly collections: readonly Collection[];
  readonly settings: readonly FollowedSetting[];
}

/**
 * Renames in the settings' expressions what a change to the collections renamed, at the end of its transaction. The keys have
 * their new names already, and a value that the change itself wrote has them too. Throws 422 that names each setting that names
 * something dropped, or that could not be used any longer (auth §6.10, webhooks §9.1).
 */
export async function followInExpressions(query: Query, before: Before): Promise<void> {
  await query({ text: "select version from system.versions where name = 'settings' for update", values: [] });
  const stored = await readFollowedSettings(query);
  if (stored.length === 0) return;
  const { collections: after } = await loadCollections(query);
  const renamed = findAllRenamed(before.collections, after);
  const formerValues = new Map(before.settings.map(({ key, value }) => [key, value]));
  const problems: Record<string, string> = {};
  for (const { key, value } of stored) {
    const family = findFollowedFamily(key);
    const collection = after.find(({ name }) => name === findNamedKey(key)?.name);
    if (!family || !collection) continue;
    const former = before.collections.find(({ id }) => id === collection.id);
    const isFormer = former !== undefined && formerValues.get(namedKey(family.family, former.name)) === value;
    const followed = isFormer
      ? follow(
          { family, value, renamed },
          { collection: former, collections: before.collections },
          { collection, collections: after },
        )
      : { value, problem: family.findProblem(value, collection, after) };
    if (followed.problem !== undefined) problems[`settings.${key}`] = followed.problem;
    else if (followed.value !== value) await storeValue(query, key, followed.value);
  }
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
}

function findAllRenamed(before: readonly Collection[], after: readonly Collection[]): Renamed {
  const now = new Map(after.map((collection) => [collection.id, collection]));
  return new Map(
    before.flatMap((collection) => {
      const next = now.get(collection.id);
      return next && next !== collection ? [...findRenamed(collection, next)] : [];
    }),
  );
}

/** Where a setting's names are resolved. */
interface Place {
  readonly collection: Collection;
  readonly collections: readonly Collection[];
}

interface Followed {
  readonly value: string;
  readonly problem: string | undefined;
}

/** Returns the value with the new names, the same text if it has none, and what is wrong with it now. */
function follow(
  { family, value, renamed }: { readonly family: FollowedFamily; readonly value: string; readonly renamed: Renamed },
  before: Place,
  after: Place,
): Followed {
  // What could not be used before holds no change back.
  if (family.findProblem(value, before.collection, before.collections) !== undefined)
    return { value, problem: undefined };
  let next = value;
  for (const { member, toExpression, toText } of family.parts) {
    const members: Record<string, unknown> = member === undefined ? {} : JSON.parse(next);
    const text = member === undefined ? next : members[member];
    if (typeof text !== 'string' || text.trim() === '') continue;
    const expression = toExpression(text);
    const followed = renameInExpression(expression, originOf(before), renamed);
    const now = new Set(namesIn(followed, originOf(after)).map(keyOf));
    const gone = namesIn(expression, originOf(before)).find((reference) => !now.has(keyOf(reference)));
    if (gone) return { value, problem: refusalOf(gone) };
    if (followed === expression) continue;
    next = member === undefined ? toText(followed) : JSON.stringify({ ...members, [member]: toText(followed) });
  }
  return { value: next, problem: family.findProblem(next, after.collection, after.collections) };
}

const originOf = ({ collection, collections }: Place) => ({
  collection,
  schema: { findCollection: (name: string) => collections.find((one) => one.name === name) },
  accounts: collections.filter(({ type }) => type === 'auth'),
});

function namesIn(expression: string, origin: ReturnType<typeof originOf>): Reference[] {
  try {
    return findReferences(expression, origin);
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
}

async function storeValue(query: Query, key: string, value: string): Promise<void> {
  await query({ text: 'update system.settings set value = $2 where key = $1', values: [key, value] });
  await query({ text: "update system.versions set version = version + 1 where name = 'settings'", values: [] });
}
