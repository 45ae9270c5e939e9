import { isDatabaseError, mapDatabaseError, sqlState } from '@recordbus/database';
import { AppError, validationFailed } from '@recordbus/errors';
import { type Collection, explainRefusal, primaryKeyName } from '@recordbus/schema';
import { concernsAll } from '../../batch/batch-refusal.ts';
import type { WriteUnit } from '../../write/write-unit.ts';

/** What the work returned, or the refusal that undid it. */
type Attempt<T> =
  | { readonly result: T; readonly refusal?: undefined }
  | { readonly result?: undefined; readonly refusal: AppError };

/**
 * Runs work within a savepoint. A refusal undoes the work and is returned. An error that concerns the whole
 * transaction, or shows that the schema has changed, is thrown.
 */
export async function withinSavepoint<T>(
  unit: WriteUnit,
  collection: Collection,
  work: () => Promise<T>,
): Promise<Attempt<T>> {
  const send = (text: string) => unit.query({ text, values: [] });
  await send('savepoint rows');
  try {
    const result = await work();
    await send('release savepoint rows');
    return { result };
  } catch (error) {
    const refusal = refusalOf(error, collection);
    await send('rollback to savepoint rows');
    await send('release savepoint rows');
    return { refusal };
  }
}

function refusalOf(error: unknown, collection: Collection): AppError {
  if (concernsAll(error)) throw error;
  if (isDatabaseError(error, sqlState.uniqueViolation) && error.constraint === primaryKeyName(collection))
    return validationFailed({ id: 'is already taken' });
  try {
    explainRefusal(collection)(error);
  } catch (explained) {
    if (explained instanceof AppError) return explained;
  }
  // Unknown constraints and class 42 show that the schema has changed (served-collections.ts).
  if (isDatabaseError(error) && /^(42|0A|54|23503|23505)/.test(error.code ?? '')) throw error;
  return (
    mapDatabaseError(error) ??
    new AppError(422, 'validation_failed', 'the database cannot store the row', { cause: error })
  );
}
