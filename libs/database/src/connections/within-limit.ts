import { isDatabaseError, sqlState, tooExpensive } from '../errors.ts';

interface Limit {
  readonly limitMs: number;
  /** Cancels the statement, unless it waits for a lock. Returns whether it was cancelled. */
  readonly cancel: () => Promise<boolean>;
}

/**
 * Waits for a statement, and cancels it after its limit: 422 `too_expensive`. A statement that waits for a lock at that
 * moment gets the same time again, until its class's time ends it. Settles after the last cancel, so a cancel never
 * hits the connection's next statement.
 */
export async function withinLimit<R>(running: Promise<R>, { limitMs, cancel }: Limit): Promise<R> {
  let canceling: Promise<void> | undefined;
  let wasCanceled = false;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    timer = setTimeout(() => {
      canceling = tryToCancel();
    }, limitMs);
  };
  async function tryToCancel(): Promise<void> {
    // Without a connection for the cancel, the class's statement time ends the statement.
    const isCanceled = await cancel().catch(() => false);
    wasCanceled ||= isCanceled;
    // Repeat even after a cancel: the server ignores a cancel that arrives between two driver messages.
    if (!isOver) watch();
  }
  async function stop(): Promise<void> {
    isOver = true;
    clearTimeout(timer);
    await canceling;
  }
  watch();
  try {
    return await running;
  } catch (error) {
    await stop();
    throw wasCanceled && isDatabaseError(error, sqlState.queryCanceled) ? tooExpensive(error) : error;
  } finally {
    await stop();
  }
}
