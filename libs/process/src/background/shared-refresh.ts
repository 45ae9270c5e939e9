/** Repeats a read for several callers, one read at a time. */
interface SharedRefresh {
  /** Resolves after a read that began after this call. Throws the read's errors. */
  run(): Promise<void>;
  /** Resolves when no read is in progress; never throws. */
  idle(): Promise<void>;
}

/**
 * Creates a shared refresh. Callers during a read share the next read, since the current one may miss their changes.
 */
export function createSharedRefresh(read: () => Promise<void>): SharedRefresh {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    if (!running) {
      running = read().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  }

  return {
    run,
    async idle() {
      await (next ?? running)?.catch(() => {});
    },
  };
}
