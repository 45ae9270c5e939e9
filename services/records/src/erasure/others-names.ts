import { hasAccounts } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';

/** How many collections one statement looks in. */
const collectionsAtOnce = 100;

/** Ids and addresses that a text without a collection may have instead of the erased record's. */
export interface OthersNames {
  readonly ids: ReadonlySet<string>;
  readonly emails: ReadonlySet<string>;
}

interface AskedNames {
  readonly collectionId: string;
  readonly ids: readonly string[];
  readonly emails: readonly string[];
}

/** Finds others' names for a part of an erasure. `part` is the part's position. */
export type FindOthersNames = (part: string, names: AskedNames) => Promise<OthersNames>;

/** Creates the function that finds others' names once for each part: every place asks for the same parts. */
export function othersNamesOnce(find: (names: AskedNames) => Promise<OthersNames>): FindOthersNames {
  const found = new Map<string, Promise<OthersNames>>();
  return (part, names) => {
    const known = found.get(part) ?? find(names);
    found.set(part, known);
    known.catch(() => found.delete(part));
    return known;
  };
}

/**
 * Finds which of the ids are also ids in other collections, and which of the addresses (in lower case) other accounts
 * or admins have. Clients choose ids, and an unverified address may be another person's: an erasure must not take that
 * person's data.
 */
export async function findOthersNames(
  query: Query,
  collections: readonly Collection[],
  { collectionId, ids, emails }: AskedNames,
): Promise<OthersNames> {
  const stored = collections.filter(({ type }) => type !== 'view');
  const find = async (names: readonly string[], sources: readonly string[]): Promise<ReadonlySet<string>> => {
    const found = new Set<string>();
    if (names.length === 0) return found;
    for (let at = 0; at < sources.length; at += collectionsAtOnce) {
      const rows = await query<{ name: string }>({
        text: `select named.name from unnest($1::text[]) as named (name) where ${sources
          .slice(at, at + collectionsAtOnce)
          .map((source) => `exists (select from ${source})`)
          .join(' or ')}`,
        values: [names],
      });
      for (const { name } of rows) found.add(name);
    }
    return found;
  };
  return {
    ids: await find(
      ids,
      stored.filter(({ id }) => id !== collectionId).map((one) => `${tableOf(one)} t where t.id = named.name`),
    ),
    emails: await find(emails, [
      'system.admins a where lower(a.email) = named.name',
      ...stored
        .filter(hasAccounts)
        .map((one) => `${tableOf(one)} t where lower(t.email) = named.name and t.email <> ''`),
    ]),
  };
}
