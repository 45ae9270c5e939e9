interface FairGateOptions {
  /** How many pieces of work may run at once. */
  readonly width: number;
  /** How many of them may belong to one client. */
  readonly widthPerClient?: number;
  /** How many may wait. */
  readonly maxWaiting: number;
  readonly maxWaitingPerClient?: number;
  /** Longest wait, in milliseconds. */
  readonly maxWaitMs: number;
  /** Creates the error of refused work: because of the client's own other work, or because of all clients'. */
  readonly refuse: (because: 'client' | 'all') => Error;
  /** Called with the wait in seconds when work enters; not called for work that did not wait. */
  readonly onWaited?: (seconds: number) => void;
}

/** Lets a bounded amount of work run at once, with clients in turn. */
export interface FairGate {
  /** Runs the work in its turn. Throws the gate's refusal when too much waits, or when the wait is too long. */
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
  /** Enters like `run`, and stays until the returned function is called. Further calls of it do nothing. */
  enter(client: string): Promise<() => void>;
  /** Enters if it can do so without waiting; undefined otherwise. */
  tryEnter(client: string): (() => void) | undefined;
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  readonly enter: () => void;
}

/**
 * Creates a gate before a scarce resource. Clients take turns, so a thousand waiting pieces of work of one client delay
 * another client's first by one piece, not by a thousand.
 */
export function createFairGate(options: FairGateOptions): FairGate {
  const { width, widthPerClient = width, maxWaiting, maxWaitingPerClient = maxWaiting, maxWaitMs } = options;
  /** By client, in the order of their turns. */
  const queues = new Map<string, Set<Waiter>>();
  const runningOf = new Map<string, number>();
  let running = 0;
  let waiting = 0;

  const runningBy = (client: string): number => runningOf.get(client) ?? 0;
  const mayEnter = (client: string): boolean => running < width && runningBy(client) < widthPerClient;

  function enter(client: string): void {
    running += 1;
    runningOf.set(client, runningBy(client) + 1);
  }

  function leave(client: string): void {
    running -= 1;
    const left = runningBy(client) - 1;
    if (left > 0) runningOf.set(client, left);
    else runningOf.delete(client);
    letIn();
  }

  function letIn(): void {
    for (const [client, queue] of queues) {
      if (running >= width) return;
      if (!mayEnter(client)) continue;
      const [first] = queue;
      if (!first) continue;
      forget(client, first);
      // The rest of the client's queue moves behind the other clients.
      const rest = queues.get(client);
      if (rest) {
        queues.delete(client);
        queues.set(client, rest);
      }
      enter(client);
      first.enter();
    }
  }

  function forget(client: string, waiter: Waiter): void {
    const queue = queues.get(client);
    if (!queue?.delete(waiter)) return;
    waiting -= 1;
    if (queue.size === 0) queues.delete(client);
  }

  function wait(client: string): Promise<void> {
    const queue = queues.get(client) ?? new Set();
    const isOwnFault = () => runningBy(client) >= widthPerClient;
    if (waiting >= maxWaiting || queue.size >= maxWaitingPerClient)
      throw options.refuse(queue.size >= maxWaitingPerClient || isOwnFault() ? 'client' : 'all');
    queues.set(client, queue);
    waiting += 1;
    const waitsSinceMs = performance.now();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        forget(client, waiter);
        reject(options.refuse(isOwnFault() ? 'client' : 'all'));
      }, maxWaitMs);
      const waiter: Waiter = {
        enter() {
          clearTimeout(timer);
          options.onWaited?.((performance.now() - waitsSinceMs) / 1000);
          resolve();
        },
      };
      queue.add(waiter);
    });
  }

  function leaveOnce(client: string): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      leave(client);
    };
  }

  return {
    async enter(client) {
      if (mayEnter(client)) enter(client);
      else await wait(client);
      return leaveOnce(client);
    },
    tryEnter(client) {
      if (!mayEnter(client)) return undefined;
      enter(client);
      return leaveOnce(client);
    },
    async run(client, work) {
      if (mayEnter(client)) enter(client);
      else await wait(client);
      try {
        return await work();
      } finally {
        leave(client);
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
  };
}
