/** Reads something anew for all who ask for it, one reading at a time. */
interface Refresh {
  /** Resolves when a reading is done that began after this call; throws what the reading throws. */
  run(): Promise<void>;
  /** Resolves when nothing is being read; never throws. */
  idle(): Promise<void>;
}

/** Makes the refresh of a copy. Whoever comes while a reading runs shares the next one, since this one may be too early. */
export function createRefresh(read: () => Promise<void>): Refresh {
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
