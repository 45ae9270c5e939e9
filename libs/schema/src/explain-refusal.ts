import { isDatabaseError, sqlState } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import type { Collection } from './collection.ts';
import { columnsOfIndex, findIndexOfConstraint } from './indexes.ts';
import { findFieldOfConstraint } from './naming.ts';

/**
 * Throws the 422 that names the fields for a violated field or index constraint; throws any other error unchanged. The
 * writing statement itself checks the constraints, so concurrent writes cannot evade them. A value that is too large
 * for an index is among the written members.
 */
export const explainRefusal =
  (collection: Collection, written?: Iterable<string>) =>
  (error: unknown): never => {
    if (isDatabaseError(error, sqlState.uniqueViolation, sqlState.foreignKeyViolation)) {
      const field = findFieldOfConstraint(collection, error.constraint);
      const message = error.code === sqlState.uniqueViolation ? 'is already taken' : 'refers to no record';
      if (field) throw validationFailed({ [field.name]: message });
    }
    if (isDatabaseError(error, sqlState.uniqueViolation)) {
      const index = findIndexOfConstraint(collection, error.constraint);
      const columns = index ? columnsOfIndex(collection, index) : [];
      const message = columns.length > 1 ? `${columns.join(', ')} are taken together` : 'is already taken';
      if (columns.length > 0) throw namingEach(columns, message);
    }
    if (isDatabaseError(error, sqlState.programLimitExceeded)) {
      // PostgreSQL does not name the index when a value is larger than a page.
      const index = findIndexOfConstraint(collection, error.constraint);
      const indexes = index ? [index] : (collection.indexes ?? []);
      const columns = [...new Set(indexes.flatMap((one) => columnsOfIndex(collection, one)))];
      const names = new Set(written);
      const suspects = columns.filter((column) => names.has(column));
      const named = suspects.length > 0 ? suspects : columns;
      const others = named.length > 1 ? ', or another column of that index is' : '';
      if (named.length > 0) throw namingEach(named, `is too large for an index${others}`);
    }
    throw error;
  };

const namingEach = (columns: readonly string[], message: string) =>
  validationFailed(Object.fromEntries(columns.map((name) => [name, message])));
