import type { PlainError } from '../protocol.ts';

/** Makes plain data of whatever was thrown. */
export function plainError(thrown: unknown): PlainError {
  if (!(thrown instanceof Error)) return { message: `threw ${typeof thrown}: ${String(thrown)}` };
  const { message, stack } = thrown;
  return { message, stack };
}
