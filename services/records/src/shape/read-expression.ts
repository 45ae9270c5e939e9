import { malformedParameter } from '@recordbus/errors';
import { QueryError } from '@recordbus/query';

/** Reads a client's expression. Throws 400 naming the parameter and the problem. */
export function readExpression<T>(parameter: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw malformedParameter(parameter, error.message);
  }
}
