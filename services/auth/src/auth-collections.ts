import { isDatabaseError, sqlState } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import type { Collection, CollectionCache } from '@recordbus/schema';

/** The auth collections, for requests. */
export interface AuthCollections {
  /** Returns the auth collection with a name. Throws 404 when there is none (auth §1.1). */
  get(name: string): Promise<Collection>;
  /**
   * Runs work with the collection. When the work fails because the schema has changed, the schema is read again and the
   * work repeated once; so work that throws must leave nothing behind. Throws 404.
   */
  serve<T>(name: string, work: (collection: Collection) => Promise<T>): Promise<T>;
}

/** Finds auth collections in the cache. */
export function createAuthCollections(cache: CollectionCache): AuthCollections {
  async function get(name: string): Promise<Collection> {
    let collection = cache.find(name);
    if (!collection) {
      // A request may arrive before the new collection's notice.
      await cache.reload();
      collection = cache.find(name);
    }
    if (collection?.type !== 'auth') throw notFound('collection');
    return collection;
  }

  return {
    get,
    async serve(name, work) {
      const collection = await get(name);
      try {
        return await work(collection);
      } catch (error) {
        if (!isOutdatedSchema(error)) throw error;
        await cache.reload();
        const current = await get(name);
        if (current === collection) throw error;
        return await work(current);
      }
    },
  };
}

const isOutdatedSchema = (error: unknown): boolean =>
  isDatabaseError(
    error,
    sqlState.undefinedColumn,
    sqlState.undefinedTable,
    sqlState.cachedPlanChanged,
    sqlState.datatypeMismatch,
    sqlState.uniqueViolation,
    sqlState.foreignKeyViolation,
  );
