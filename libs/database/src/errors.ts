import { type AppError, malformed, unavailable } from '@recordbus/shared/errors';
import pg from 'pg';

/** What PostgreSQL reports when a statement is refused (SQLSTATE in `code`). */
type DatabaseError = pg.DatabaseError;

/** SQLSTATEs that the code tells apart (PostgreSQL manual, appendix A). */
export const sqlState = {
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  notNullViolation: '23502',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  undefinedColumn: '42703',
  undefinedTable: '42P01',
  undefinedFunction: '42883',
  datatypeMismatch: '42804',
  cachedPlanChanged: '0A000',
  numberOutOfRange: '22003',
  characterNotInRepertoire: '22021',
  invalidText: '22P02',
  untranslatableCharacter: '22P05',
  programLimitExceeded: '54000',
  queryCanceled: '57014',
  tooManyConnections: '53300',
} as const;

/** Is this the given refusal of PostgreSQL? */
export function isDatabaseError(error: unknown, ...codes: string[]): error is DatabaseError {
  return error instanceof pg.DatabaseError && (codes.length === 0 || codes.includes(error.code ?? ''));
}

/** Did the connection fail, rather than the statement? Covers a server that is starting, stopping or gone. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P)/.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH)/.test(code)) return true;
  return /connection (terminated|error|timeout)|query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/i.test(
    error.message,
  );
}

/** The one table from errors of the database to answers; a refusal that the caller has to explain is not in it. */
export function mapDatabaseError(error: unknown): AppError | undefined {
  if (isConnectionError(error)) return unavailable('the database does not answer', error);
  if (isDatabaseError(error, sqlState.queryCanceled)) return unavailable('the statement took too long', error);
  if (isDatabaseError(error, sqlState.tooManyConnections)) return unavailable('the database is at its limit', error);
  // Text columns take every character but this one, so it can only have come from the request.
  if (isDatabaseError(error, sqlState.characterNotInRepertoire)) return malformed('a text must not contain NUL');
  if (isDatabaseError(error, sqlState.serializationFailure, sqlState.deadlockDetected))
    return unavailable('too many writes to the same rows', error);
  return undefined;
}
