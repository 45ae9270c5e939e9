import { isDatabaseError, sqlState } from '@recordbus/database';
import { unavailable } from '@recordbus/errors';
import type { CollectionCache } from '@recordbus/schema';

/** How often the work is tried while the schema changes. */
const maxAttempts = 8;

interface SchemaUse<T> {
  readonly cache: Pick<CollectionCache, 'reload'>;
  /** Returns the part of the current schema that the work uses. */
  load(): T | Promise<T>;
  isUnchanged(current: T, used: T): boolean;
}

/**
 * Runs work with what `load` returns. When a database error shows that the schema has changed since then, loads the
 * schema and runs the work again, up to 8 times. Throws the error if that part of the schema is unchanged, and 503 if
 * the schema changes each time.
 */
export async function retryWhileOutdated<S, T>(
  { cache, load, isUnchanged }: SchemaUse<S>,
  work: (loaded: S) => Promise<T>,
): Promise<T> {
  let loaded = await load();
  for (let left = maxAttempts - 1; ; left -= 1) {
    try {
      return await work(loaded);
    } catch (error) {
      if (!isOutdatedSchema(error)) throw error;
      await cache.reload();
      const current = await load();
      if (isUnchanged(current, loaded)) throw error;
      if (left === 0) throw unavailable('the schema is being changed', error);
      loaded = current;
    }
  }
}

/**
 * Whether a statement did not fit its tables: a column or table is gone or has another type, a prepared statement is
 * outdated, a field is no longer encrypted, or an unknown constraint refused a write. A missing column may cause any error in class 42: `t.rank` is
 * then the aggregate `rank(t)`.
 */
const isOutdatedSchema = (error: unknown): boolean =>
  isDatabaseError(
    error,
    sqlState.cachedPlanChanged,
    sqlState.fieldDecrypted,
    sqlState.uniqueViolation,
    sqlState.foreignKeyViolation,
    sqlState.programLimitExceeded,
  ) ||
  (isDatabaseError(error) && /^42/.test(error.code ?? ''));
