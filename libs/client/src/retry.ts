import { abortedBy, type RecordbusError } from './error.ts';

/** How often a request is repeated, at most. */
export const maxRetries = 4;

/** The longest wait that a server may ask for. With a longer one the request fails at once. */
const longestWaitMs = 60_000;
const firstWaitMs = 250;

/** Refusal codes that mean that no work was done. */
const nothingDone = new Set(['rate_limited', 'too_many_connections']);
/** Refusal codes that last only as long as another request. */
const passing = new Set(['idempotency_key_in_use', 'files_being_removed', 'record_changing']);

/**
 * Whether to repeat a request after this error. `isSafe` means that a repetition does no work twice, because the
 * request only reads or has an idempotency key.
 */
export function isWorthRepeating({ status, code }: RecordbusError, isSafe: boolean): boolean {
  if (status === 429) return nothingDone.has(code);
  if (!isSafe) return false;
  return code === 'network' || passing.has(code) || status === 502 || status === 503 || status === 504;
}

/**
 * How long to wait before the repetition: the time that the server asks for, or else longer each time, with a random
 * part.
 */
export function waitBefore(repetition: number, { retryAfterMs }: RecordbusError): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return firstWaitMs * 2 ** repetition * (0.5 + Math.random() / 2);
}

/** Whether the wait that the server asks for is short enough. */
export const isShortWait = ({ retryAfterMs = 0 }: RecordbusError): boolean => retryAfterMs <= longestWaitMs;

/** Waits; an aborted signal ends the wait with an error. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedBy(signal));
    const stop = (): void => {
      clearTimeout(timer);
      if (signal) reject(abortedBy(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Waits for work that continues without the caller. An aborted signal ends the wait with an error. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(abortedBy(signal));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The time in `Retry-After`, as seconds or as a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** A new idempotency key. `randomUUID` is missing on pages without TLS. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
