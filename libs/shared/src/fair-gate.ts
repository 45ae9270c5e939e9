import { createQueue, type Queue } from './queue.ts';

interface FairGateOptions {
  /** How many pieces of work may run at once. */
  readonly width: number;
  /** How many may currently run, from 1 to `width`, if that depends on other work. */
  readonly widthNow?: () => number;
  /** How many of them may belong to one client. */
  readonly widthPerClient?: number;
  /** How many may wait. */
  readonly maxWaiting: number;
  readonly maxWaitingPerClient?: number;
  /** Longest wait, in milliseconds. */
  readonly maxWaitMs: number;
  /**
   * Creates the error of refused work. The cause is the client's own other work, if nothing else runs or it has as much as
   * a client may have; otherwise it is the work of all clients.
   */
  readonly refuse: (because: 'client' | 'all') => Error;
  /** Called with the wait in seconds when work enters; not called for work that did not wait. */
  readonly onWaited?: (seconds: number) => void;
}

/** Bounds how much work runs at once. Clients take turns. */
export interface FairGate {
  /** Runs the work in its turn. Throws the gate's refusal when too much waits, or when the wait is too long. */
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
  /** Enters like `run`, and stays until the returned function is called. Only its first call has an effect. */
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
  /** The waiters in the order of their calls. Those that have given up stay until their turn. */
  readonly queue: Queue<Waiter>;
}

/** How many idle clients are kept. Creating and removing an entry for each piece of work would cost more. */
const maxIdleClients = 1000;

/**
 * Creates a gate in front of a scarce resource. Clients take turns: if one client has a thousand pieces of work waiting,
 * another client's first piece is delayed by one of them, not by a thousand.
 */
export const createFairGate = (options: FairGateOptions): FairGate => new Gate(options);

class Gate implements FairGate {
  readonly #options: FairGateOptions;
  readonly #widthPerClient: number;
  readonly #clients = new Map<string, Client>();
  /** The clients with waiters, in the order of their turns. */
  readonly #turns: Client[] = [];
  #running = 0;
  #waiting = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
    this.#widthPerClient = options.widthPerClient ?? options.width;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async enter(name: string): Promise<() => void> {
    const client = this.#clientOf(name);
    if (this.#mayEnter(client)) this.#enter(client);
    else await this.#wait(client);
    return this.#leaveOnce(client);
  }

  tryEnter(name: string): (() => void) | undefined {
    const client = this.#clientOf(name);
    if (!this.#mayEnter(client)) return undefined;
    this.#enter(client);
    return this.#leaveOnce(client);
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const client = this.#clientOf(name);
    if (this.#mayEnter(client)) this.#enter(client);
    else await this.#wait(client);
    try {
      return await work();
    } finally {
      this.#leave(client);
    }
  }

  #clientOf(name: string): Client {
    let client = this.#clients.get(name);
    if (!client) {
      if (this.#clients.size >= maxIdleClients) this.#forgetIdle();
      client = { name, running: 0, waiting: 0, queue: createQueue() };
      this.#clients.set(name, client);
    }
    return client;
  }

  #forgetIdle(): void {
    for (const { name, running, waiting } of this.#clients.values())
      if (running === 0 && waiting === 0) this.#clients.delete(name);
  }

  #mayEnter({ running }: Client): boolean {
    return this.#running < this.#widthNow && running < this.#widthPerClient;
  }

  get #widthNow(): number {
    return this.#options.widthNow?.() ?? this.#options.width;
  }

  #enter(client: Client): void {
    this.#running += 1;
    client.running += 1;
  }

  #leave(client: Client): void {
    this.#running -= 1;
    client.running -= 1;
    if (this.#waiting > 0) this.#letIn();
  }

  #leaveOnce(client: Client): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#leave(client);
    };
  }

  /** Lets waiters in, one of each client in turn, as long as there is room. */
  #letIn(): void {
    for (let at = 0; at < this.#turns.length && this.#running < this.#widthNow; ) {
      const client = this.#turns[at] as Client;
      if (client.waiting > 0 && !this.#mayEnter(client)) {
        at += 1;
        continue;
      }
      this.#turns.splice(at, 1);
      const waiter = this.#nextWaiter(client);
      if (!waiter) continue;
      // The client's other waiters take their turn after those of other clients.
      if (client.waiting > 0) this.#turns.push(client);
      this.#enter(client);
      clearTimeout(waiter.timer);
      this.#options.onWaited?.((performance.now() - waiter.waitsSinceMs) / 1000);
      waiter.resolve();
    }
  }

  /** Takes the first waiter that has not given up. */
  #nextWaiter(client: Client): Waiter | undefined {
    for (let waiter = client.queue.shift(); waiter; waiter = client.queue.shift()) {
      if (waiter.hasGivenUp) continue;
      client.waiting -= 1;
      this.#waiting -= 1;
      return waiter;
    }
    return undefined;
  }

  #wait(client: Client): Promise<void> {
    const { maxWaiting, maxWaitingPerClient = maxWaiting, maxWaitMs, refuse } = this.#options;
    const isOwnFault = () =>
      client.running >= this.#widthPerClient || (client.running > 0 && client.running === this.#running);
    if (this.#waiting >= maxWaiting || client.waiting >= maxWaitingPerClient)
      throw refuse(client.waiting >= maxWaitingPerClient || isOwnFault() ? 'client' : 'all');
    if (client.waiting === 0 && !this.#turns.includes(client)) this.#turns.push(client);
    client.waiting += 1;
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiter.hasGivenUp = true;
        client.waiting -= 1;
        this.#waiting -= 1;
        reject(refuse(isOwnFault() ? 'client' : 'all'));
      };
      const waitsSinceMs = performance.now();
      const waiter: Waiter = { waitsSinceMs, timer: setTimeout(giveUp, maxWaitMs), resolve, hasGivenUp: false };
      client.queue.push(waiter);
    });
  }
}
