import { createQueue, type Queue } from './queue.ts';

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
  /** Creates the error of refused work; the cause is the client's own other work, or the work of all clients. */
  readonly refuse: (because: 'client' | 'all') => Error;
  /** Called with the wait in seconds when work enters; not called for work that did not wait. */
  readonly onWaited?: (seconds: number) => void;
}

/** Lets a bounded amount of work run at once, with clients in turn. */
export interface FairGate {
  /** Runs the work in its turn. Throws the gate's refusal when too much waits, or when the wait is too long. */
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
  /** Enters like `run`, and stays until the returned function is called; later calls of that function do nothing. */
  enter(client: string): Promise<() => void>;
  /** Enters if it can do so without waiting; undefined otherwise. */
  tryEnter(client: string): (() => void) | undefined;
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  readonly waitsSinceMs: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: () => void;
  hasGivenUp: boolean;
}

/** A client of the gate. */
interface Client {
  readonly name: string;
  running: number;
  /** Its waiters that have not given up. */
  waiting: number;
  /** In the order of their calls; those that gave up stay until their turn. */
  readonly queue: Queue<Waiter>;
}

/** How many idle clients are kept. An entry that comes and goes with each piece of work would cost more. */
const maxIdleClients = 1000;

/**
 * Creates a gate before a scarce resource. Clients take turns, so a thousand waiting pieces of work of one client delay
 * another client's first by one piece, not by a thousand.
 */
export function createFairGate(options: FairGateOptions): FairGate {
  const { width, widthPerClient = width, maxWaiting, maxWaitingPerClient = maxWaiting, maxWaitMs } = options;
  const clients = new Map<string, Client>();
  /** The clients with waiters, in the order of their turns. */
  const turns: Client[] = [];
  let running = 0;
  let waiting = 0;

  function clientOf(name: string): Client {
    let client = clients.get(name);
    if (!client) {
      if (clients.size >= maxIdleClients) forgetIdle();
      client = { name, running: 0, waiting: 0, queue: createQueue() };
      clients.set(name, client);
    }
    return client;
  }

  function forgetIdle(): void {
    for (const { name, running, waiting } of clients.values()) if (running === 0 && waiting === 0) clients.delete(name);
  }

  const mayEnter = (client: Client): boolean => running < width && client.running < widthPerClient;

  function enter(client: Client): void {
    running += 1;
    client.running += 1;
  }

  function leave(client: Client): void {
    running -= 1;
    client.running -= 1;
    if (waiting > 0) letIn();
  }

  /** Lets waiters in, one of each client in turn, as long as there is room. */
  function letIn(): void {
    for (let at = 0; at < turns.length && running < width; ) {
      const client = turns[at] as Client;
      if (client.waiting > 0 && !mayEnter(client)) {
        at += 1;
        continue;
      }
      turns.splice(at, 1);
      const waiter = nextWaiter(client);
      if (!waiter) continue;
      // The rest of the client's waiters take their turn behind the other clients.
      if (client.waiting > 0) turns.push(client);
      enter(client);
      clearTimeout(waiter.timer);
      options.onWaited?.((performance.now() - waiter.waitsSinceMs) / 1000);
      waiter.resolve();
    }
  }

  /** Takes the first waiter that has not given up. */
  function nextWaiter(client: Client): Waiter | undefined {
    for (let waiter = client.queue.shift(); waiter; waiter = client.queue.shift()) {
      if (waiter.hasGivenUp) continue;
      client.waiting -= 1;
      waiting -= 1;
      return waiter;
    }
    return undefined;
  }

  function wait(client: Client): Promise<void> {
    const isOwnFault = () => client.running >= widthPerClient;
    if (waiting >= maxWaiting || client.waiting >= maxWaitingPerClient)
      throw options.refuse(client.waiting >= maxWaitingPerClient || isOwnFault() ? 'client' : 'all');
    if (client.waiting === 0 && !turns.includes(client)) turns.push(client);
    client.waiting += 1;
    waiting += 1;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiter.hasGivenUp = true;
        client.waiting -= 1;
        waiting -= 1;
        reject(options.refuse(isOwnFault() ? 'client' : 'all'));
      };
      const waiter: Waiter = {
        waitsSinceMs: performance.now(),
        timer: setTimeout(giveUp, maxWaitMs),
        resolve,
        hasGivenUp: false,
      };
      client.queue.push(waiter);
    });
  }

  function leaveOnce(client: Client): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      leave(client);
    };
  }

  return {
    async enter(name) {
      const client = clientOf(name);
      if (mayEnter(client)) enter(client);
      else await wait(client);
      return leaveOnce(client);
    },
    tryEnter(name) {
      const client = clientOf(name);
      if (!mayEnter(client)) return undefined;
      enter(client);
      return leaveOnce(client);
    },
    async run(name, work) {
      const client = clientOf(name);
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
