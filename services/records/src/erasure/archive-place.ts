import { deleteExports } from '../data-jobs/archive-store.ts';
import type { Place } from './place.ts';

/** Archives of the accounts' own data. */
export const archivePlace: Place = {
  name: 'archives',
  isOfAccounts: true,
  async clean(query, { collectionId, ids }) {
    return { archives: await deleteExports(query, collectionId, ids) };
  },
};
