import { AppError, conflict } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';

/** 400: another collection has the name, without regard to case (collections §1.2). */
export const nameTaken = (name: string) =>
  new AppError(400, 'collection_exists', `a collection named "${name}" exists`, { details: { name: 'is taken' } });

/** 409: other collections' relations refer to the collection to drop, or views read it (collections §7.2). */
export const collectionInUse = (collection: Collection, blockers: readonly { collection: string; field?: string }[]) =>
  conflict('collection_in_use', `other collections depend on ${collection.name}`, { blockers });
