import { unavailable } from '@recordbus/errors';

/** Bytes that work shares. */
export interface ByteBudget {
  readonly maxBytes: number;
  /** The bytes in use. */
  readonly usedBytes: number;
  /**
   * Waits until the bytes are free, and takes them. Returns the function that frees them. Throws 503 if they are not free
   * in time. The bytes must not exceed the budget.
   */
  take(bytes: number): Promise<() => void>;
}

interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
  /** How much smaller work has passed this one. */
  passed: number;
}

/** How often smaller work may pass a waiter whose bytes are not free yet. */
const maxPassed = 8;

/** Creates a budget. Work waits in order, but small work passes large work that does not fit yet, for a while. */
export function createByteBudget(maxBytes: number, maxWaitMs: number): ByteBudget {
  const waiters: Waiter[] = [];
  let usedBytes = 0;

  const fits = (bytes: number): boolean => usedBytes + bytes <= maxBytes;
  const mayPass = (count: number): boolean => waiters.slice(0, count).every(({ passed }) => passed < maxPassed);
  const notePassed = (count: number): void => {
    for (const waiter of waiters.slice(0, count)) waiter.passed += 1;
  };

  function use(bytes: number): () => void {
    usedBytes += bytes;
    let isFreed = false;
    return () => {
      if (isFreed) return;
      isFreed = true;
      usedBytes -= bytes;
      letIn();
    };
  }

  function letIn(): void {
    for (let at = 0; at < waiters.length && mayPass(at); ) {
      const waiter = waiters[at] as Waiter;
      if (!fits(waiter.bytes)) {
        at += 1;
        continue;
      }
      waiters.splice(at, 1);
      notePassed(at);
      waiter.enter();
    }
  }

  return {
    maxBytes,
    get usedBytes() {
      return usedBytes;
    },
    take(bytes) {
      if (bytes > maxBytes) throw new RangeError(`${bytes} bytes exceed the budget of ${maxBytes}`);
      if (fits(bytes) && mayPass(waiters.length)) {
        notePassed(waiters.length);
        return Promise.resolve(use(bytes));
      }
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.splice(waiters.indexOf(waiter), 1);
          reject(unavailable('too many previews are being created'));
          letIn();
        }, maxWaitMs);
        const waiter: Waiter = {
          bytes,
          passed: 0,
          enter() {
            clearTimeout(timer);
            resolve(use(bytes));
          },
        };
        waiters.push(waiter);
      });
    },
  };
}
