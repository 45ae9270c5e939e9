/** Reads a list's total again after a while. */
export interface Recount {
  /** Schedules a read, unless there is one. */
  soon(): void;
  stop(): void;
}

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

/** Creates a recount. While each read leads to the next, the pauses grow. A random part spreads the clients. */
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
