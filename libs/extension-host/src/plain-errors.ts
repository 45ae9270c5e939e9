import { AppError } from '@recordbus/errors';
import type { PlainError } from './protocol.ts';

/** Converts a host error for an extension; `onDefect` gets a defect, whose text the extension does not see. */
export function toPlainError(thrown: unknown, onDefect: (defect: unknown) => void): PlainError {
  if (thrown instanceof AppError) {
    const { status, code, message, details } = thrown;
    return { status, code, message, details };
  }
  onDefect(thrown);
  return { status: 500, code: 'internal_error', message: 'something went wrong on the server' };
}

/** The codes for refusals without their own. */
const codes: Readonly<Record<number, string>> = {
  400: 'malformed_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'validation_failed',
  429: 'too_many_requests',
  503: 'unavailable',
};

/** Converts an error with a status to a refusal. */
export const toAppError = ({ status = 500, code, message, details }: PlainError): AppError =>
  new AppError(status, code ?? codes[status] ?? 'refused', message, {
    ...(details && { details: { ...details } }),
    ...(status === 401 && { headers: { 'WWW-Authenticate': 'Bearer' } }),
  });
