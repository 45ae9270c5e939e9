import { ConfigError, databaseUrl } from '@recordbus/shared/config';
import { StartFailure } from '@recordbus/shared/start-failure';
import { isConnectionError, isDatabaseError } from '../errors.ts';

/** Explains why a database refuses a start or does not answer; returns any other error as it is. */
export function startRefusal(error: unknown): unknown {
  if (isConnectionError(error))
    return new StartFailure(`The database of ${databaseUrl.name} does not answer: ${messageOf(error)}.`);
  // Class 28: invalid authorization; 3D000: no such database (PostgreSQL manual, appendix A).
  if (isDatabaseError(error) && /^(28|3D)/.test(error.code ?? ''))
    return new ConfigError(`${databaseUrl.name} cannot be used: ${error.message}.`);
  return error;
}

/** For a name with several addresses Node reports one error for each, and no message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
