import { inspect } from 'node:util';
import type { PlainError } from '../protocol.ts';

/** Converts any thrown value to plain data. */
export function plainError(thrown: unknown): PlainError {
  try {
    if (!(thrown instanceof Error)) return { message: `threw ${inspect(thrown, { depth: 1, breakLength: Infinity })}` };
    const { message, stack } = thrown;
    return { message: String(message), stack: stack === undefined ? undefined : String(stack) };
  } catch {
    return { message: 'threw a value that cannot be inspected' };
  }
}
