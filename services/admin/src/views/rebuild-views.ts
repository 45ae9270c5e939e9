import { AppError, validationFailed } from '@recordbus/errors';
import { type Collection, tableOf } from '@recordbus/schema';
import { updateCollection } from '../schema/collections-table.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import { buildView } from './build-view.ts';
import { renameInQuery } from './view-query.ts';

interface ViewBase {
  /** The collection that the views depend on, before and after the change. */
  readonly before: Collection;
  readonly after: Collection;
  /** Every collection: changed ones as they are now, the views as they were. */
  readonly collections: readonly Collection[];
}

/** Drops the views on a collection that is to change, last one first. */
export const dropViews = (execute: SchemaChange['execute'], views: readonly string[]): Promise<void> =>
  execute([...views].reverse().map((name) => `drop view ${tableOf({ name })}`));

/**
 * Creates views again after a change, in their order. Their queries follow a collection's new name, and their fields
 * follow those that they pass through. Returns all collections after that. Throws 422 that names the view that fails.
 */
export async function rebuildViews(
  { query }: Pick<SchemaChange, 'query'>,
  views: readonly string[],
  { before, after, collections }: ViewBase,
): Promise<readonly Collection[]> {
  let current = collections;
  for (const name of views) {
    const view = current.find((other) => other.name === name);
    if (!view) throw new Error(`the view ${name} has no collection`);
    const made = await reportingUnder(name, async () => {
      const text = view.viewQuery ?? '';
      const viewQuery = before.name === after.name ? text : await renameInQuery(text, before.name, after.name);
      const others = current.filter((other) => other !== view);
      return buildView({ ...view, viewQuery }, { query, collections: others, checksIds: after.type === 'view' });
    });
    await updateCollection(query, made);
    current = current.map((other) => (other === view ? made : other));
  }
  return current;
}

async function reportingUnder<T>(view: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = error instanceof AppError && error.status === 422 ? error.details?.view_query : undefined;
    throw message === undefined ? error : validationFailed({ [`${view}.view_query`]: String(message) });
  }
}
