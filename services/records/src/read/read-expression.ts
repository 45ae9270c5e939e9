import { QueryError } from '@recordbus/query';
import { malformed } from '@recordbus/shared/errors';

/**
 * Reads an expression that a client wrote. What it can't be understood for is 400 with the message, and in the details
 * the parameter and the position in its text, in UTF-16 code units from 0.
 */
export function readExpression<T>(parameter: 'filter' | 'sort', read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw malformed(`${parameter}: ${error.message}`, { parameter, position: error.position });
  }
}
