import { isDatabaseError, sqlState } from '@recordbus/database';
import type { Collection, CollectionCache } from '@recordbus/schema';
import { notFound } from '@recordbus/shared/errors';

/** The collections that users belong to, as requests meet them. */
export interface AuthCollections {
  /** Throws 404 for a name that no collection of type auth has. */
  get(name: string): Promise<Collection>;
  /**
   * Does some work with the collection. When the database shows that the schema has changed since it was read, it is
   * read again and the work is done once more, so the work must leave nothing behind when it throws. Throws 404.
   */
  serve<T>(name: string, work: (collection: Collection) => Promise<T>): Promise<T>;
}

/** Finds auth collections in the cache. */
export function createAuthCollections(cache: CollectionCache): AuthCollections {
  async function get(name: string): Promise<Collection> {
    let collection = cache.find(name);
    if (!collection) {
      // Whoever just made the collection may be faster than the news of it.
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
