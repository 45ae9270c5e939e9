import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { findReferences, QueryError, type Reference, renameInExpression } from '@recordbus/query';
import { type Collection, loadCollections } from '@recordbus/schema';
import { findNamedKey, namedKey } from '@recordbus/settings';
import { findOwnersProblem, ofOwners } from './check-owners.ts';
import { findRenamed, type Renamed } from './find-renamed.ts';
import { keyOf, refusalOf } from './lost-reference.ts';

/** A setting that lets a collection's records own webhooks. */
export interface OwnersSetting {
  readonly key: string;
  readonly value: string;
}

/** Reads the settings for webhooks' owners. */
export const readOwnersSettings = (query: Query): Promise<OwnersSetting[]> =>
  query<OwnersSetting>({
    text: 'select key, value from system.settings where starts_with(key, $1) order by key',
    values: [namedKey(ofOwners, '')],
  });

/** The collections and the settings from before a change. */
interface Before {
  readonly collections: readonly Collection[];
  readonly owners: readonly OwnersSetting[];
}

/**
 * Renames in `manage_rule` and `mail` of the settings for webhooks' owners what a change to the collections renamed, at the
 * end of its transaction. The keys have their new names already, and a value that the change itself wrote has them too. Throws
 * 422 that names each setting that names something dropped, or that could not be used any longer (webhooks §9.1).
 */
export async function followInOwners(query: Query, before: Before): Promise<void> {
  await query({ text: "select version from system.versions where name = 'settings' for update", values: [] });
  const stored = await readOwnersSettings(query);
  if (stored.length === 0) return;
  const { collections: after } = await loadCollections(query);
  const renamed = findAllRenamed(before.collections, after);
  const formerValues = new Map(before.owners.map(({ key, value }) => [key, value]));
  const problems: Record<string, string> = {};
  for (const { key, value } of stored) {
    const owners = after.find(({ name }) => name === findNamedKey(key)?.name);
    const former = before.collections.find(({ id }) => id === owners?.id);
    if (!owners) continue;
    const isFormer = former !== undefined && formerValues.get(namedKey(ofOwners, former.name)) === value;
    const followed = isFormer
      ? follow(value, { former, collections: before.collections }, { owners, collections: after }, renamed)
      : { value, problem: findOwnersProblem(value, owners, after) };
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

interface Followed {
  readonly value: string;
  readonly problem: string | undefined;
}

/** Returns the JSON text with the new names, the same text if it has none, and what is wrong with it now. */
function follow(
  value: string,
  { former, collections: before }: { readonly former: Collection; readonly collections: readonly Collection[] },
  { owners, collections: after }: { readonly owners: Collection; readonly collections: readonly Collection[] },
  renamed: Renamed,
): Followed {
  // What could not be used before holds no change back.
  if (findOwnersProblem(value, former, before) !== undefined) return { value, problem: undefined };
  const members: Record<string, unknown> = JSON.parse(value);
  const next = { ...members };
  const lost: Reference[] = [];
  for (const { member, toExpression, toText } of followedMembers) {
    const text = members[member];
    if (typeof text !== 'string' || text.trim() === '') continue;
    const expression = renameInExpression(toExpression(text), originOf(former, before), renamed);
    next[member] = toText(expression);
    const now = new Set(namesIn(expression, originOf(owners, after)).map(keyOf));
    lost.push(
      ...namesIn(toExpression(text), originOf(former, before)).filter((reference) => !now.has(keyOf(reference))),
    );
  }
  const [gone] = lost;
  if (gone) return { value, problem: refusalOf(gone) };
  const isSame = followedMembers.every(({ member }) => next[member] === members[member]);
  const text = isSame ? value : JSON.stringify(next);
  return { value: text, problem: findOwnersProblem(text, owners, after) };
}

/** The members that name fields. A path alone is no expression. */
const followedMembers = [
  { member: 'manage_rule', toExpression: (rule: string) => rule, toText: (expression: string) => expression },
  {
    member: 'mail',
    toExpression: (path: string) => `${path} = null`,
    toText: (expression: string) => expression.replace(/ = null$/, ''),
  },
];

const originOf = (collection: Collection, collections: readonly Collection[]) => ({
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
