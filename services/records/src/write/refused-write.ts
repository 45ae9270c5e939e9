import { isDatabaseError, sqlState } from '@recordbus/database';
import { type Collection, columnsOfIndex, findFieldOfConstraint, findIndexOfConstraint } from '@recordbus/schema';
import { validationFailed } from '@recordbus/shared/errors';

/**
 * Turns the violation of a field's constraint into the 422 that names the field; throws whatever else it gets. The
 * constraints are asked by the writing statement itself, so no concurrent write can come between.
 */
export const explainRefusal =
  (collection: Collection) =>
  (error: unknown): never => {
    if (isDatabaseError(error, sqlState.uniqueViolation, sqlState.foreignKeyViolation)) {
      const field = findFieldOfConstraint(collection, error.constraint);
      const message = error.code === sqlState.uniqueViolation ? 'is already taken' : 'refers to no record';
      if (field) throw validationFailed({ [field.name]: message });
    }
    if (isDatabaseError(error, sqlState.uniqueViolation, sqlState.programLimitExceeded)) {
      const index = findIndexOfConstraint(collection, error.constraint);
      const message =
        error.code === sqlState.uniqueViolation
          ? `is already taken (index ${index?.name})`
          : `is too large for the index ${index?.name}`;
      if (index)
        throw validationFailed(Object.fromEntries(columnsOfIndex(collection, index).map((name) => [name, message])));
    }
    throw error;
  };
