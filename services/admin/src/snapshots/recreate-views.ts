import { type Collection, createProblems, tableOf } from '@recordbus/schema';
import { checkRules } from '../collections/check-rules.ts';
import type { CollectionChange } from '../collections/collection-draft.ts';
import { readRules } from '../collections/read-rules.ts';
import { updateCollection } from '../schema/collections-table.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import { buildView } from '../views/build-view.ts';

/** Drops all views with the given names at once, so that the tables below can change. */
export async function dropAllViews({ execute }: SchemaChange, names: readonly string[]): Promise<void> {
  if (names.length > 0) await execute([`drop view ${names.map((name) => tableOf({ name })).join(', ')}`]);
}

/**
 * Creates a dropped view again, with the change's query and rules. The rules are not checked. `missing` names the views
 * that do not exist yet, which it cannot read.
 */
export async function recreateView(
  { query, collections }: SchemaChange,
  name: string,
  change: CollectionChange,
  missing: ReadonlySet<string>,
  nowSec: number,
): Promise<void> {
  const before = collections.find((collection) => collection.name === name);
  if (!before) throw new Error(`the view ${name} has no collection`);
  const planned = {
    ...before,
    viewQuery: change.view_query ?? before.viewQuery,
    rules: readRules(change, before.rules),
    updatedAtSec: Math.max(nowSec, before.updatedAtSec),
  };
  const others = collections.filter((other) => other !== before && !missing.has(other.name));
  await updateCollection(query, await buildView(planned, { query, collections: others, checksIds: true }));
}

/** Checks every rule once all views exist, because rules may name any view. Throws 422 that names the invalid rules. */
export async function checkEveryRule(collections: readonly Collection[]): Promise<void> {
  const problems = createProblems();
  await checkRules(undefined, collections, { add: (place, message) => problems.add(`collections.${place}`, message) });
  problems.throwIfAny();
}
