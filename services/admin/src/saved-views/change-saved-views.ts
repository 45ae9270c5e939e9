import { recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { Actor } from '../audit/actor.ts';
import type { NewSavedView, SavedViewChange, SavedViewJson } from './saved-view-schema.ts';
import { deleteSavedViewRow, getSavedView, insertSavedView, updateSavedView } from './saved-view-store.ts';

/** Returns the calling admin's id. A service key has no views of its own, and sees the shared ones. */
export const adminIdOf = (principal: Principal): string | undefined =>
  principal.type === 'admin' ? principal.id : undefined;

/** A change of saved views: who makes it, and when. */
export interface SavedViewWork {
  readonly database: Pick<Database, 'transaction'>;
  readonly adminId: string | undefined;
  readonly actor: Actor;
  readonly nowSec: number;
}

/** Saves a view. Throws 422, and 409 when the collection has too many. */
export const createSavedView = (
  { database, adminId, actor, nowSec }: SavedViewWork,
  wanted: NewSavedView,
): Promise<SavedViewJson> =>
  database.transaction(async (query) => {
    const id = await insertSavedView(query, ownerFor(wanted, adminId), wanted, nowSec);
    const saved = await getSavedView(query, adminId, id);
    await audit(query, actor, 'saved_views.create', saved);
    return saved;
  });

/** Changes a view. Throws 404 and 422. */
export const changeSavedView = (
  { database, adminId, actor, nowSec }: SavedViewWork,
  id: string,
  change: SavedViewChange,
): Promise<SavedViewJson> =>
  database.transaction(async (query) => {
    const wanted = { ...(await getSavedView(query, adminId, id, 'for update of v')), ...change };
    await updateSavedView(query, id, ownerFor(wanted, adminId), wanted, nowSec);
    const changed = await getSavedView(query, adminId, id);
    await audit(query, actor, 'saved_views.update', changed);
    return changed;
  });

/** Deletes a view. Throws 404. */
export const deleteSavedView = ({ database, adminId, actor }: SavedViewWork, id: string): Promise<void> =>
  database.transaction(async (query) => {
    const view = await getSavedView(query, adminId, id, 'for update of v');
    await deleteSavedViewRow(query, id);
    await audit(query, actor, 'saved_views.delete', view);
  });

function ownerFor({ shared }: { readonly shared: boolean }, adminId: string | undefined): string | null {
  if (shared) return null;
  if (adminId === undefined) throw validationFailed({ shared: 'must be true: a service key has no views of its own' });
  return adminId;
}

const audit = (query: Query, actor: Actor, action: string, view: SavedViewJson): Promise<void> =>
  recordAudit(query, {
    ...actor,
    action,
    target: { type: 'saved_view', id: view.id },
    details: { name: view.name, collection: view.collection, shared: view.shared },
  });
