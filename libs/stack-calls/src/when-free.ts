import { setTimeout } from 'node:timers/promises';
import { AppError } from '@recordbus/errors';

/** How long a command waits for a stack that is busy, in milliseconds. */
const patienceMs = 120_000;

const busy = new Set([429, 502, 503, 504]);

/** Whether the stack may accept the same request later. */
export const isBusy = (error: unknown): error is AppError => error instanceof AppError && busy.has(error.status);

/** Sends a request, and repeats it while the stack is busy. */
export async function whenFree<T>(send: () => Promise<T>, terminal: { note(text: string): void }): Promise<T> {
  const giveUpAtMs = performance.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await send();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAtMs) throw error;
      if (isFirst) terminal.note(`Waiting: ${error.message}`);
      await setTimeout(Math.min(Number(error.headers['Retry-After'] ?? 1) || 1, 10) * 1000);
    }
  }
}
