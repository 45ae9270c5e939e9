import { type Address, noTurns, Parties, type Principal, type Turns, type Waiter } from './parties.ts';

/** Who asks a gate for a place. */
export interface Caller {
  /** The principal; for guests the address. */
  readonly name: string;
  /** The address as rate limits count it. */
  readonly address: string;
  readonly rank: CallerRank;
}

/** Guests leave places to users, and both leave places to admins. */
export type CallerRank = 'guest' | 'user' | 'admin';

/** The product's own work. */
export const ownCaller: Caller = { name: 'own', address: 'own', rank: 'user' };

/** A user with this name, for gates whose clients have no address. */
export const namedCaller = (name: string): Caller => ({ name, address: name, rank: 'user' });

interface FairGateOptions {
  /** How many pieces of work may run at once. */
  readonly width: number;
  /** How many may currently run, from 1 to `width`, if that depends on other work. */
  readonly widthNow?: () => number;
  /** How many may belong to one principal. One address may have half, or as many as a principal. */
  readonly widthPerClient?: number;
  /** How many places guests leave to users, and users and guests to admins; 0 by default. */
  readonly reserved?: number;
  /** How much work in each rank may wait. */
  readonly maxWaiting: number;
  /** How much may belong to one principal. One address may have twice as much. */
  readonly maxWaitingPerClient?: number;
  /** Longest wait, in milliseconds. */
  readonly maxWaitMs: number;
  /**
   * Creates the error for refused work. The cause is the client's own other work, if nothing else runs or it has as
   * much as a client may have; otherwise it is all clients' work.
   */
  readonly refuse: (because: 'client' | 'all') => Error;
  /** Called with the wait in seconds when work enters; not called for work that did not wait. */
  readonly onWaited?: (seconds: number) => void;
}

/** Bounds how much work runs at once. Addresses take turns, and so do one address's principals. */
export interface FairGate {
  /** Runs the work in its turn. Throws the gate's refusal when too much waits, or when the wait is too long. */
  run<T>(caller: Caller, work: () => Promise<T>): Promise<T>;
  /** Enters like `run`, and stays until the returned function is called. Only its first call has an effect. */
  enter(caller: Caller): Promise<() => void>;
  /** Enters if it can do so without waiting; undefined otherwise. */
  tryEnter(caller: Caller): (() => void) | undefined;
  /** Whether another caller waits for a running caller's place, rather than for more than their own share. */
  isWanted(caller: Caller): boolean;
  readonly running: number;
  readonly waiting: number;
}

/**
 * Creates a gate in front of a scarce resource (cost §3). If one client has a thousand pieces of work waiting, another
 * client's first piece is delayed by one piece, not by a thousand. A client is a principal as well as an address: one
 * person with many addresses has one turn, and so have many accounts at one address.
 */
export const createFairGate = (options: FairGateOptions): FairGate => new Gate(options);

class Gate implements FairGate {
  readonly #options: FairGateOptions;
  readonly #widthPerClient: number;
  readonly #widthPerAddress: number;
  readonly #parties = new Parties();
  /** Each rank's addresses with waiters, in turn order. */
  readonly #turns: Turns<Address> = noTurns();
  /** Users and guests take turns too, so that a crowd of guests does not keep users out. */
  #lastRank: CallerRank = 'guest';
  readonly #running: Record<CallerRank, number> = { guest: 0, user: 0, admin: 0 };
  readonly #waiting: Record<CallerRank, number> = { guest: 0, user: 0, admin: 0 };

  constructor(options: FairGateOptions) {
    this.#options = options;
    this.#widthPerClient = options.widthPerClient ?? options.width;
    this.#widthPerAddress = Math.max(this.#widthPerClient, Math.ceil(options.width / 2));
  }

  get running(): number {
    return sum(this.#running);
  }

  get waiting(): number {
    return sum(this.#waiting);
  }

  async enter(caller: Caller): Promise<() => void> {
    const principal = this.#parties.principalOf(caller);
    if (this.#mayEnter(principal)) this.#enter(principal);
    else await this.#wait(principal);
    return this.#leaveOnce(principal);
  }

  tryEnter(caller: Caller): (() => void) | undefined {
    const principal = this.#parties.principalOf(caller);
    if (!this.#mayEnter(principal)) return undefined;
    this.#enter(principal);
    return this.#leaveOnce(principal);
  }

  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const principal = this.#parties.principalOf(caller);
    if (this.#mayEnter(principal)) this.#enter(principal);
    else await this.#wait(principal);
    try {
      return await work();
    } finally {
      this.#leave(principal);
    }
  }

  isWanted({ name, rank }: Caller): boolean {
    const needs = (one: Principal) => one.waiting > 0 && one.name !== name && !this.#hasItsShare(one);
    return ranksFrom[rank].some((other) => this.#turns[other].some(({ turns }) => turns[other].some(needs)));
  }

  #mayEnter(principal: Principal): boolean {
    return this.#hasRoomFor(principal.rank) && !this.#hasItsShare(principal);
  }

  #hasItsShare({ running, address }: Principal): boolean {
    return running >= this.#widthPerClient || address.running >= this.#widthPerAddress;
  }

  /** At least one place is for everyone, however narrow the gate is. */
  #hasRoomFor(rank: CallerRank): boolean {
    const width = this.#options.widthNow?.() ?? this.#options.width;
    const { guest, user, admin } = this.#running;
    if (guest + user + admin >= width) return false;
    const { reserved = 0 } = this.#options;
    if (reserved === 0 || rank === 'admin') return true;
    if (guest + user >= Math.max(width - reserved, 1)) return false;
    return rank === 'user' || guest < Math.max(width - 2 * reserved, 1);
  }

  #enter(principal: Principal): void {
    this.#running[principal.rank] += 1;
    principal.running += 1;
    principal.address.running += 1;
  }

  #leave(principal: Principal): void {
    this.#running[principal.rank] -= 1;
    principal.running -= 1;
    principal.address.running -= 1;
    if (this.waiting > 0) this.#letIn();
  }

  #leaveOnce(principal: Principal): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#leave(principal);
    };
  }

  /** Lets waiters in as long as there is room: admins first, the others in turn. */
  #letIn(): void {
    while (this.#hasRoomFor('admin')) {
      const others = this.#lastRank === 'user' ? (['guest', 'user'] as const) : (['user', 'guest'] as const);
      const rank = this.#letInOne('admin') ?? this.#letInOne(others[0]) ?? this.#letInOne(others[1]);
      if (rank === undefined) return;
      if (rank !== 'admin') this.#lastRank = rank;
    }
  }

  /** Lets the next waiter of a rank in. Returns the rank, or undefined if none may enter. */
  #letInOne(rank: CallerRank): CallerRank | undefined {
    if (this.#waiting[rank] === 0 || !this.#hasRoomFor(rank)) return undefined;
    const turns = this.#turns[rank];
    for (let at = 0; at < turns.length; ) {
      const address = turns[at] as Address;
      const principals = address.turns[rank];
      const principal = this.#nextPrincipal(address, principals);
      if (!principal && principals.length > 0) {
        at += 1;
        continue;
      }
      turns.splice(at, 1);
      const waiter = principal && this.#nextWaiter(principal);
      if (!principal || !waiter) continue;
      // Its other waiters take their turn after everyone else's.
      if (principal.waiting > 0) principals.push(principal);
      if (principals.length > 0) turns.push(address);
      this.#enter(principal);
      clearTimeout(waiter.timer);
      this.#options.onWaited?.((performance.now() - waiter.waitsSinceMs) / 1000);
      waiter.resolve();
      return rank;
    }
    return undefined;
  }

  /** Takes the address's first principal that may enter, and forgets those without waiters. */
  #nextPrincipal(address: Address, principals: Principal[]): Principal | undefined {
    for (let at = 0; at < principals.length; ) {
      const principal = principals[at] as Principal;
      // One that gave up may have come back from another address.
      const isWaiting = principal.waiting > 0 && principal.address === address;
      const enters = isWaiting && !this.#hasItsShare(principal);
      if (!isWaiting || enters) principals.splice(at, 1);
      else at += 1;
      if (enters) return principal;
    }
    return undefined;
  }

  /** Takes the first waiter that has not given up. */
  #nextWaiter(principal: Principal): Waiter | undefined {
    for (let waiter = principal.queue.shift(); waiter; waiter = principal.queue.shift()) {
      if (waiter.hasGivenUp) continue;
      this.#noteWaiting(principal, -1);
      return waiter;
    }
    return undefined;
  }

  #noteWaiting(principal: Principal, change: number): void {
    principal.waiting += change;
    principal.address.waiting += change;
    this.#waiting[principal.rank] += change;
  }

  #wait(principal: Principal): Promise<void> {
    const { maxWaiting, maxWaitingPerClient = maxWaiting, maxWaitMs, refuse } = this.#options;
    const { address, rank } = principal;
    const isOwnFault = () =>
      this.#hasItsShare(principal) || (principal.running > 0 && principal.running === this.running);
    const isFull = principal.waiting >= maxWaitingPerClient || address.waiting >= 2 * maxWaitingPerClient;
    if (isFull || this.#waiting[rank] >= maxWaiting) throw refuse(isFull || isOwnFault() ? 'client' : 'all');
    const principals = address.turns[rank];
    if (principal.waiting === 0 && !principals.includes(principal)) principals.push(principal);
    if (principals.length === 1 && !this.#turns[rank].includes(address)) this.#turns[rank].push(address);
    this.#noteWaiting(principal, 1);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiter.hasGivenUp = true;
        this.#noteWaiting(principal, -1);
        reject(refuse(isOwnFault() ? 'client' : 'all'));
      };
      const waitsSinceMs = performance.now();
      const waiter: Waiter = { waitsSinceMs, timer: setTimeout(giveUp, maxWaitMs), resolve, hasGivenUp: false };
      principal.queue.push(waiter);
    });
  }
}

/** A waiter needs the place of a caller with its own rank or a lower one, which leaves places to it. */
const ranksFrom: Readonly<Record<CallerRank, readonly CallerRank[]>> = {
  guest: ['guest', 'user', 'admin'],
  user: ['user', 'admin'],
  admin: ['admin'],
};

const sum = ({ guest, user, admin }: Readonly<Record<CallerRank, number>>): number => guest + user + admin;
