import { AppError, malformed, unavailable } from '@recordbus/errors';
import pg from 'pg';
import { BrokenAnswerError } from './driver/answer-frames.ts';
import type { Statement } from './statement.ts';

/** The error for a statement that PostgreSQL refused (SQLSTATE in `code`). */
type DatabaseError = pg.DatabaseError;

/** The SQLSTATEs that the code handles (PostgreSQL manual, appendix A). */
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
  invalidParameterValue: '22023',
  readOnlyTransaction: '25006',
  lockNotAvailable: '55P03',
  unknownStatement: '26000',
  characterNotInRepertoire: '22021',
  invalidText: '22P02',
  untranslatableCharacter: '22P05',
  programLimitExceeded: '54000',
  queryCanceled: '57014',
  tooManyConnections: '53300',
  outOfMemory: '53200',
  diskFull: '53100',
  /** Raised by `system.answer_too_large()`. */
  answerTooLarge: 'RB001',
  /** Raised by `system.keep_announced()`. */
  announcedRemoved: 'RB002',
  /** Raised by `system.still_encrypted()`. */
  fieldDecrypted: 'RB003',
} as const;

/** Whether PostgreSQL refused a statement, with one of the given SQLSTATEs if any. */
export function isDatabaseError(error: unknown, ...codes: string[]): error is DatabaseError {
  return error instanceof pg.DatabaseError && (codes.length === 0 || codes.includes(error.code ?? ''));
}

/** Whether the connection failed, not the statement: the server is starting, stopping or gone. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof BrokenAnswerError) return true;
  if (error instanceof pg.DatabaseError) return /^(08|57P)/.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH)/.test(code)) return true;
  return /connection (terminated|error|timeout)|query read timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/i.test(
    error.message,
  );
}

const textOf = new WeakMap<Error, string>();

/** Throws an error again. A database refusal gets its statement's text, for `textOfRefused`. */
export function throwNoted(error: unknown, { text }: Statement): never {
  if (isDatabaseError(error)) textOf.set(error, text);
  throw error;
}

/** Returns the text of the statement that the database refused. */
export const textOfRefused = (error: Error): string | undefined => textOf.get(error);

/** Maps a database error to a refusal; undefined for errors that the caller has to explain. */
export function mapDatabaseError(error: unknown): AppError | undefined {
  if (error instanceof BrokenAnswerError && error.isTooLarge) return answerTooLarge(error);
  if (isDatabaseError(error, sqlState.answerTooLarge)) return answerTooLarge(error);
  if (isConnectionError(error)) return unavailable('the database does not answer', error);
  if (isDatabaseError(error, sqlState.queryCanceled)) return unavailable('the statement took too long', error);
  if (isDatabaseError(error, sqlState.tooManyConnections)) return unavailable('the database is at its limit', error);
  if (isDatabaseError(error, sqlState.diskFull)) return unavailable("the database's disk is full", error);
  // Text columns store every character but NUL, so it came with the request.
  if (isDatabaseError(error, sqlState.characterNotInRepertoire)) return malformed('a text must not contain NUL');
  if (isDatabaseError(error, sqlState.serializationFailure, sqlState.deadlockDetected))
    return unavailable('too many writes to the same rows', error);
  return undefined;
}

/** 422 for a write whose rule takes too long (cost §1.6). */
export const tooExpensive = (cause?: unknown): AppError =>
  new AppError(422, 'too_expensive', "the collection's rule takes too long for this write", { cause });

/** 422 for an answer over the limit (cost §2.1). */
export const answerTooLarge = (cause?: unknown): AppError =>
  new AppError(422, 'answer_too_large', 'the answer is too large: request fewer records, or fewer fields', {
    cause,
  });
