import { AppError } from '@recordbus/errors';

/** A call's error for admins: for a defect in the extension, its own error's message. */
export function errorTextOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const hasMessage = typeof cause === 'object' && cause !== null && 'message' in cause;
  return error instanceof AppError && hasMessage ? String(cause.message) : error.message;
}
