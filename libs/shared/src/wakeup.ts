/** A sleep that others can end. */
interface Wakeup {
  /** Forgets wakes that came so far; a later one ends the next wait. */
  reset(): void;
  wait(timeoutMs: number): Promise<void>;
  wake(): void;
  /** Wakes in a few milliseconds, once for all who ask until then. */
  wakeSoon(): void;
}

const soonMs = 5;

/** Makes a wake-up for one waiter. */
export function createWakeup(): Wakeup {
  let woken = false;
  let isSoon = false;
  let end = () => {};

  function wake(): void {
    woken = true;
    end();
  }

  return {
    reset() {
      woken = false;
    },
    wait(timeoutMs) {
      if (woken) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    wake,
    wakeSoon() {
      if (isSoon) return;
      isSoon = true;
      setTimeout(() => {
        isSoon = false;
        wake();
      }, soonMs).unref();
    },
  };
}
