import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import {
  checkEventFilter,
  findReferences,
  ownersSchema,
  QueryError,
  type QuerySchema,
  type Reference,
  renameInExpression,
} from '@recordbus/query';
import { type Collection, loadCollections } from '@recordbus/schema';
import { type Filtered, findFilterProblem, hasEventsOf } from './check-filter.ts';
import { findRenamed } from './find-renamed.ts';
import { keyOf, refusalOf } from './lost-reference.ts';

interface StoredFilter extends Filtered {
  readonly id: string;
  readonly name: string;
  readonly filter: string;
  /** Whether this change to the schema wrote it: then it has the new names. */
  readonly isNew: boolean;
}

/**
 * Renames in webhooks' filters what a change to the collections renamed, at the end of its transaction. Throws 422 that
 * names each filter that names something dropped, or that could not be used any longer (webhooks §1.7).
 */
export async function followInFilters(query: Query, before: readonly Collection[]): Promise<void> {
  // From here on no webhook gets a filter that was checked with the collections from before.
  await query({ text: "select version from system.versions where name = 'schema' for update", values: [] });
  const stored = await query<StoredFilter>({
    text: `select id, name, events, filter, owner_collection as owner, updated_at = now() as "isNew" from system.webhooks
      where filter is not null order by id`,
    values: [],
  });
  if (stored.length === 0) return;
  const { collections: after } = await loadCollections(query);
  const problems: Record<string, string> = {};
  for (const webhook of stored) {
    const { id, name, filter, isNew } = webhook;
    const followed = isNew ? readNew(webhook, after) : followFilter(webhook, before, after);
    if ('problem' in followed) problems[`webhooks.${name}.filter`] = followed.problem;
    else if (followed.filter !== filter)
      await query({ text: 'update system.webhooks set filter = $2 where id = $1', values: [id, followed.filter] });
  }
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
}

type Followed = { readonly filter: string } | { readonly problem: string };

function readNew(webhook: StoredFilter, after: readonly Collection[]): Followed {
  const problem = findFilterProblem(webhook, after);
  return problem === undefined ? { filter: webhook.filter } : { problem };
}

/** Returns a filter with the new names, or what prevents it. */
function followFilter(
  { events, filter, owner }: Pick<StoredFilter, 'events' | 'filter' | 'owner'>,
  before: readonly Collection[],
  after: readonly Collection[],
): Followed {
  const now = new Map(after.map((collection) => [collection.id, collection]));
  const renamed = new Map(
    before.flatMap((collection) => {
      const next = now.get(collection.id);
      return next && next !== collection ? [...findRenamed(collection, next)] : [];
    }),
  );
  const schemaFor = (collections: readonly Collection[]) => (owner ? ownersSchema({}) : schemaOf(collections));
  const texts = new Set<string>();
  for (const collection of before.filter(
    (one) => hasEventsOf(events, one) && isUsable(filter, one, schemaFor(before)),
  )) {
    const names = findReferences(filter, originOf(collection, before));
    const text = renameInExpression(filter, originOf(collection, before), renamed);
    texts.add(text);
    const next = now.get(collection.id);
    const lost = findLost(
      names,
      next && isUsable(text, next, schemaFor(after)) ? findReferences(text, originOf(next, after)) : [],
    );
    if (lost) return { problem: refusalOf(lost) };
    if (next && !isUsable(text, next, schemaFor(after))) return { problem: problemIn(text, next, schemaFor(after)) };
  }
  const [text = filter, other] = texts;
  return other === undefined ? { filter: text } : { problem: 'names a field that other collections have too' };
}

/** The first reference that is missing among the others. Ids survive renames. */
function findLost(names: readonly Reference[], now: readonly Reference[]): Reference | undefined {
  const keys = new Set(now.map(keyOf));
  return names.find((name) => !keys.has(keyOf(name)));
}

const originOf = (collection: Collection, collections: readonly Collection[]) => ({
  collection,
  schema: schemaOf(collections),
  accounts: [],
  isEventFilter: true,
});

const schemaOf = (collections: readonly Collection[]) => ({
  findCollection: (name: string) => collections.find((other) => other.name === name),
});

const isUsable = (filter: string, collection: Collection, schema: QuerySchema): boolean =>
  problemIn(filter, collection, schema) === '';

/** What is wrong with a filter for one collection's events; empty if nothing is. */
function problemIn(filter: string, collection: Collection, schema: QuerySchema): string {
  try {
    checkEventFilter(filter, { collections: [collection], schema, hasOthers: false });
    return '';
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
}
