import { type Collection, tableOf } from '@recordbus/schema';
import { AppError, validationFailed } from '@recordbus/shared/errors';
import { updateCollection } from '../collections/collections-table.ts';
import type { SchemaChange } from '../collections/schema-changes.ts';
import { buildView } from './build-view.ts';
import { renameInQuery } from './view-query.ts';

interface Ground {
  /** The collection that the views stand on, as it was and as it is now. */
  readonly before: Collection;
  readonly after: Collection;
  /** Every collection, those that changed as they are now, the views as they were. */
  readonly collections: readonly Collection[];
}

/** Drops views from under which something is to change, the last one first. */
export const dropViews = (execute: SchemaChange['execute'], views: readonly string[]): Promise<void> =>
  execute([...views].reverse().map((name) => `drop view ${tableOf({ name })}`));

/**
 * Makes views again over what has changed, in their order: they follow a new name, and their fields what became of
 * those that they hand on. Gives all collections as they are then. Throws 422 naming the view that can't be made.
 */
export async function rebuildViews(
  { query }: Pick<SchemaChange, 'query'>,
  views: readonly string[],
  { before, after, collections }: Ground,
): Promise<readonly Collection[]> {
  let current = collections;
  for (const name of views) {
    const view = current.find((other) => other.name === name);
    if (!view) throw new Error(`the view ${name} belongs to no collection`);
    const made = await naming(name, async () => {
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

async function naming<T>(view: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = error instanceof AppError && error.status === 422 ? error.details?.view_query : undefined;
    throw message === undefined ? error : validationFailed({ [`${view}.view_query`]: String(message) });
  }
}
