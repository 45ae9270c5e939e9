import { newId, type Query } from '@recordbus/database';
import { conflict, notFound, validationFailed } from '@recordbus/errors';
import type { NewSavedView, SavedViewChange, SavedViewJson } from './saved-view-schema.ts';

/** How many views a collection may have, those of all admins together. */
const maxViews = 500;

const columns = `v.id, c.name as collection, v.name, v.filter, v.sort, v.columns, v.owner_id is null as shared,
  v.created_at, v.updated_at`;
const tables = 'system.saved_views v join system.collections c on c.id = v.collection_id';
const isVisible = '(v.owner_id is null or v.owner_id = $1)';

interface Wanted {
  readonly page: number;
  readonly perPage: number;
  readonly collection?: string | undefined;
}

/** Returns a page of the shared views and the admin's own, by name, and how many there are. */
export async function listSavedViews(
  query: Query,
  adminId: string | undefined,
  { page, perPage, collection }: Wanted,
): Promise<{ rows: SavedViewJson[]; totalItems: number }> {
  const where = `where ${isVisible} and ($2::text is null or c.name = $2)`;
  const values = [adminId ?? null, collection ?? null];
  const rows = await query<SavedViewJson>({
    text: `select ${columns} from ${tables} ${where} order by lower(v.name), v.id limit $3 offset $4`,
    values: [...values, perPage, (page - 1) * perPage],
  });
  const [found] = await query<{ count: number }>({ text: `select count(*) from ${tables} ${where}`, values });
  return { rows, totalItems: found?.count ?? 0 };
}

/** Returns a view that the admin may use. Throws 404. With `lock` no other transaction changes it before this one ends. */
export async function getSavedView(
  query: Query,
  adminId: string | undefined,
  id: string,
  lock: '' | 'for update of v' = '',
): Promise<SavedViewJson> {
  const [row] = await query<SavedViewJson>({
    text: `select ${columns} from ${tables} where ${isVisible} and v.id = $2 ${lock}`,
    values: [adminId ?? null, id],
  });
  if (!row) throw notFound('saved view');
  return row;
}

/** Inserts a view. Throws 422 for an unknown collection, and 409 if it has too many views. Returns its id. */
export async function insertSavedView(
  query: Query,
  ownerId: string | null,
  view: NewSavedView,
  nowSec: number,
): Promise<string> {
  // Locks the collection, so that no other view is counted at the same time.
  const [collection] = await query<{ id: string }>({
    text: 'select id from system.collections where name = $1 for no key update',
    values: [view.collection],
  });
  if (!collection) throw validationFailed({ collection: `there is no collection ${view.collection}` });
  const [found] = await query<{ count: number }>({
    text: 'select count(*) from system.saved_views where collection_id = $1',
    values: [collection.id],
  });
  if ((found?.count ?? 0) >= maxViews)
    throw conflict('too_many_saved_views', `the collection has ${maxViews} saved views already`);
  const id = newId();
  await query({
    text: `insert into system.saved_views
        (id, collection_id, owner_id, name, filter, sort, columns, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
    values: [id, collection.id, ownerId, view.name, view.filter, view.sort, view.columns, nowSec],
  });
  return id;
}

/** Writes a view's members that can change. */
export async function updateSavedView(
  query: Query,
  id: string,
  ownerId: string | null,
  view: Required<SavedViewChange>,
  nowSec: number,
): Promise<void> {
  await query({
    text: `update system.saved_views
      set owner_id = $2, name = $3, filter = $4, sort = $5, columns = $6, updated_at = $7 where id = $1`,
    values: [id, ownerId, view.name, view.filter, view.sort, view.columns, nowSec],
  });
}

/** Deletes a view. */
export const deleteSavedViewRow = async (query: Query, id: string): Promise<void> => {
  await query({ text: 'delete from system.saved_views where id = $1', values: [id] });
};
