import type { Collection } from '@recordbus/schema';
import { AppError, conflict } from '@recordbus/shared/errors';

/** 400: another collection has the name, in this or another case (interface §7). */
export const nameTaken = (name: string) =>
  new AppError(400, 'collection_exists', `a collection named "${name}" exists`, { details: { name: 'is taken' } });

/** 409: relations of other collections lead to the one that is to be dropped, or views read it (contract §8). */
export const collectionInUse = (collection: Collection, blockers: readonly { collection: string; field?: string }[]) =>
  conflict('collection_in_use', `other collections need ${collection.name}`, { blockers });
