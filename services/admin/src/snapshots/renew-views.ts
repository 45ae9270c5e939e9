import { createProblems, loadCollections, tableOf } from '@recordbus/schema';
import { checkRules } from '../collections/check-rules.ts';
import type { CollectionChange } from '../collections/collection-draft.ts';
import { updateCollection } from '../collections/collections-table.ts';
import { readRules } from '../collections/read-rules.ts';
import type { SchemaChange } from '../collections/schema-changes.ts';
import { buildView } from '../views/build-view.ts';

/** Takes every view of the given names away, so that the tables below can change however they like. */
export async function takeViewsDown({ execute }: SchemaChange, names: readonly string[]): Promise<void> {
  if (names.length > 0) await execute([`drop view ${names.map((name) => tableOf({ name })).join(', ')}`]);
}

/**
 * Makes a view again that was taken down, with what the change says of its query and its rules. `missing` are the views
 * that are still to come, which it can't read.
 */
export async function renewView(
  { query }: SchemaChange,
  name: string,
  change: CollectionChange,
  missing: ReadonlySet<string>,
  nowSec: number,
): Promise<void> {
  const { collections } = await loadCollections(query);
  const before = collections.find((collection) => collection.name === name);
  if (!before) throw new Error(`the view ${name} belongs to no collection`);
  const planned = {
    ...before,
    viewQuery: change.view_query ?? before.viewQuery,
    rules: readRules(change, before.rules),
    updatedAtSec: Math.max(nowSec, before.updatedAtSec),
  };
  const others = collections.filter((other) => other !== before && !missing.has(other.name));
  const view = await buildView(planned, { query, collections: others, checksIds: true });
  const problems = createProblems();
  checkRules(view, [...others, view], problems);
  problems.throwIfAny();
  await updateCollection(query, view);
}
