/** Reads the total of a list again, now and then. */
export interface Recount {
  /** Has it read again after a while. */
  soon(): void;
  stop(): void;
}

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

/** Creates it. Where each reading asks for the next one, the pauses grow; chance spreads the clients. */
export function createRecount(run: () => void): Recount {
  let [pauseMs, ranAtMs] = [0, Number.NEGATIVE_INFINITY];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    soon() {
      if (timer !== undefined) return;
      const isOften = Date.now() - ranAtMs < pauseMs * 2;
      pauseMs = isOften ? Math.min(longestPauseMs, pauseMs * 2) : firstPauseMs;
      timer = setTimeout(
        () => {
          [timer, ranAtMs] = [undefined, Date.now()];
          run();
        },
        pauseMs * (1 + Math.random() / 2),
      );
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
