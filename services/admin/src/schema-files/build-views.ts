import type { Query } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';
import { type Collection, type Problems, quoteIdentifier, tableOf } from '@recordbus/schema';
import { planColumns } from '../ddl/create-table.ts';
import { orderViews } from '../snapshots/order-views.ts';
import { buildView, type TriedTables } from '../views/build-view.ts';
import { findMentions } from '../views/view-query.ts';
import type { CollectionChanges } from './target-collections.ts';

interface ViewsToBuild {
  readonly query: Query;
  readonly problems: Problems;
  /** Whether to check that a view returns each id once. */
  checksIds(view: Collection): boolean;
  readonly tried?: TriedTables;
}

/**
 * Builds the views among the collections, each after those that it reads, and returns all collections with their
 * queries' fields. Adds what is wrong to `problems`.
 */
export async function buildViews(
  collections: readonly Collection[],
  { query, problems, checksIds, tried }: ViewsToBuild,
): Promise<readonly Collection[]> {
  const views = collections.filter(({ type }) => type === 'view');
  const built = new Map<string, Collection>();
  const available = collections.filter(({ type }) => type !== 'view');
  const failed = new Set<string>();
  for (const { name } of await orderViews(views.map((view) => ({ name: view.name, view_query: view.viewQuery })))) {
    const view = views.find((one) => one.name === name);
    if (!view) continue;
    if ((await findMentions(view.viewQuery ?? '')).some((mention) => failed.has(mention))) {
      failed.add(name);
      continue;
    }
    await query({ text: 'savepoint built_view', values: [] });
    try {
      const made = await buildView(view, {
        query,
        collections: available,
        checksIds: checksIds(view),
        ...(tried && { tried }),
      });
      built.set(name, made);
      available.push(made);
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      await query({ text: 'rollback to savepoint built_view', values: [] });
      failed.add(name);
      problems.add(`collections.${name}.view_query`, String(error.details?.view_query ?? error.message));
    }
  }
  return collections.map((collection) => built.get(collection.name) ?? collection);
}

/**
 * Tries a plan's views on empty temporary tables in the plan's shapes, in a transaction that is rolled back. The
 * collections' tables are not locked.
 */
export async function tryViews(
  query: Query,
  { kept, after }: CollectionChanges,
  problems: Problems,
): Promise<readonly Collection[]> {
  const sameTables = new Set(
    kept.flatMap(({ before, after: now }) =>
      now.type !== 'view' && before.name === now.name && before.fields === now.fields ? [now.name] : [],
    ),
  );
  const mentioned = new Set<string>();
  const slice = startSlice();
  for (const { type, viewQuery } of after) {
    if (slice.isOver()) await slice.pause();
    if (type === 'view') for (const name of await findMentions(viewQuery ?? '')) mentioned.add(name);
  }
  for (const collection of after) {
    const { name, type } = collection;
    if (type === 'view' || sameTables.has(name) || !mentioned.has(name)) continue;
    const text = `create temporary table ${quoteIdentifier(name)} (${planColumns(collection).join(', ')})`;
    await query({ text, values: [] });
  }
  const temporary = new Set(
    after
      .filter(({ name, type }) => type === 'view' || (mentioned.has(name) && !sameTables.has(name)))
      .map(({ name }) => name),
  );
  const tried: TriedTables = {
    schema: 'pg_temp',
    tableOf: (collection) =>
      temporary.has(collection.name) ? `pg_temp.${quoteIdentifier(collection.name)}` : tableOf(collection),
  };
  return buildViews(after, { query, problems, checksIds: () => false, tried });
}
