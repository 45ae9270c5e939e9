import { isDatabaseError, mapDatabaseError, sqlState } from '@recordbus/database';
import { AppError } from '@recordbus/errors';

/** The details' member that says which operation is refused. */
const member = 'index';

/** A batch's refusal because of one operation: its status and messages, and its index (batch §5.1). */
export function refusalAt(index: number, { status, code, message, details, headers, cause }: AppError): AppError {
  const ofField = details?.[member];
  // A field may have the same name as the member. Its message moves into the sentence.
  const sentence = ofField === undefined ? message : `${message}: ${member} ${String(ofField)}`;
  return new AppError(status, code, sentence, { details: { ...details, [member]: index }, headers, cause });
}

/** 422 for an operation's members. */
export const operationRefused = (index: number, details: Record<string, string>): AppError =>
  new AppError(422, 'validation_failed', 'validation failed', { details: { ...details, [member]: index } });

/** Rethrows an operation's error, with its index if it is a refusal. Other errors concern the whole batch. */
export function throwAt(index: number, error: unknown): never {
  const refusal = error instanceof AppError ? error : mapDatabaseError(error);
  throw refusal && refusal.status < 500 ? refusalAt(index, refusal) : error;
}

/**
 * Whether the error concerns the connection or the whole transaction, so that running the statements in another order
 * does not avoid it.
 */
export const concernsAll = (error: unknown): boolean =>
  !(error instanceof AppError) &&
  (!isDatabaseError(error) ||
    isDatabaseError(error, sqlState.deadlockDetected, sqlState.serializationFailure, sqlState.queryCanceled) ||
    (mapDatabaseError(error)?.status ?? 0) >= 500);
