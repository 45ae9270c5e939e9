import { isDatabaseError, sqlState } from '@recordbus/database';
import type { Collection, CollectionCache, RuleName } from '@recordbus/schema';
import type { Principal } from '@recordbus/shared/context';
import { methodNotAllowed, notFound, unavailable } from '@recordbus/shared/errors';
import { authorise } from '../rules/authorise.ts';

/** A caller who wants to do something with the records of a collection. */
interface Request {
  readonly collection: string;
  readonly action: RuleName;
  readonly principal: Principal;
}

/** The collections as requests meet them. */
export interface ServedCollections {
  /** Throws 404 for an unknown collection, 405 for a write on a view, 403 or 401 for a closed rule, in this order. */
  admit(request: Request): Promise<Collection>;
  /**
   * Admits the request and does its work. When the database shows that the schema has changed since it was read, the
   * schema is read again and the work is done once more, a few times if it goes on changing, so the work must leave
   * nothing behind when it throws.
   */
  serve<T>(request: Request, work: (collection: Collection) => Promise<T>): Promise<T>;
}

/** Changes of the schema that one request lives through. */
const maxAttempts = 8;

const reading = new Set<RuleName>(['list', 'view']);

/** Serves the collections of the cache. */
export function createServedCollections(cache: CollectionCache): ServedCollections {
  async function admit({ collection: name, action, principal }: Request): Promise<Collection> {
    const collection = cache.find(name) ?? (await findAgain(name));
    if (!collection) throw notFound('collection');
    if (collection.type === 'view' && !reading.has(action))
      throw methodNotAllowed('GET, HEAD', 'a view collection is read-only');
    authorise(collection.rules[action], principal);
    return collection;
  }

  /** Whoever just created the collection may be faster than the news of it. */
  async function findAgain(name: string): Promise<Collection | undefined> {
    await cache.reload();
    return cache.find(name);
  }

  return {
    admit,
    async serve(request, work) {
      let collection = await admit(request);
      for (let left = maxAttempts - 1; ; left -= 1) {
        try {
          return await work(collection);
        } catch (error) {
          if (!isOutdatedSchema(error)) throw error;
          await cache.reload();
          const current = await admit(request);
          if (current === collection) throw error;
          if (left === 0) throw unavailable('the schema is being changed', error);
          collection = current;
        }
      }
    },
  };
}

/**
 * The statement does not fit its tables: a column or table is gone or has another type, a prepared statement is out of
 * date, or a constraint that nobody here knows stands against a write. A column that is gone may look like anything of
 * the class 42: `t.rank` is then the aggregate `rank(t)`.
 */
const isOutdatedSchema = (error: unknown): boolean =>
  isDatabaseError(
    error,
    sqlState.cachedPlanChanged,
    sqlState.uniqueViolation,
    sqlState.foreignKeyViolation,
    sqlState.programLimitExceeded,
  ) ||
  (isDatabaseError(error) && /^42/.test(error.code ?? ''));
