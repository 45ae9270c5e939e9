import { isDatabaseError, sqlState } from '@recordbus/database';
import { type Collection, findFieldOfConstraint } from '@recordbus/schema';
import { validationFailed } from '@recordbus/shared/errors';

/** Turns the violation of a field's constraint into the 422 that names the field; throws whatever else it gets. */
export const explainRefusal =
  (collection: Collection) =>
  (error: unknown): never => {
    if (isDatabaseError(error, sqlState.uniqueViolation, sqlState.foreignKeyViolation)) {
      const field = findFieldOfConstraint(collection, error.constraint);
      const message = error.code === sqlState.uniqueViolation ? 'is already taken' : 'refers to no record';
      if (field) throw validationFailed({ [field.name]: message });
    }
    throw error;
  };
