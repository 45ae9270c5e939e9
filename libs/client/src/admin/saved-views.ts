import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions } from '../transport.ts';
import type { Requests } from './requests.ts';

/** What a saved view shows. */
export interface SavedViewValues {
  readonly name: string;
  /** An expression or words. */
  readonly filter?: string;
  readonly sort?: string;
  readonly columns?: readonly string[];
  /** Whether all admins have it, or only its owner. */
  readonly shared?: boolean;
}

/** A view of a collection's records that an admin saved. */
export interface SavedView extends Required<SavedViewValues> {
  readonly id: string;
  readonly collection: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const base = ['admin', 'saved-views'];

/** Saved views (admins §9). */
export const createSavedViews = ({ page, create, patch, remove }: Requests) => ({
  /** Lists the shared views and one's own. */
  list: (filter?: PageOptions & { readonly collection?: string }, options?: CallOptions) =>
    page<Page<SavedView>>(base, filter, options),
  create: (values: SavedViewValues & { readonly collection: string }, options?: CallOptions) =>
    create<SavedView>(base, values, options),
  update: (id: string, changes: Partial<SavedViewValues>, options?: CallOptions) =>
    patch<SavedView>([...base, id], changes, options),
  delete: (id: string, options?: CallOptions) => remove([...base, id], options),
});
