import type { Caller, CallerRank } from './fair-gate.ts';
import { createQueue, type Queue } from './queue.ts';

/** Work that waits for a place. */
export interface Waiter {
  readonly waitsSinceMs: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: () => void;
  hasGivenUp: boolean;
}

interface Party {
  readonly name: string;
  running: number;
  /** Its waiters that have not given up. */
  waiting: number;
}

/** An address with its principals. */
export interface Address extends Party {
  /** Each rank's principals with waiters, in turn order. */
  readonly turns: Turns<Principal>;
}

/** Those with waiters, by rank. */
export type Turns<T> = Readonly<Record<CallerRank, T[]>>;

export const noTurns = () => ({ guest: [], user: [], admin: [] });

/** A client by name. */
export interface Principal extends Party {
  readonly rank: CallerRank;
  /**
   * The address of its first work that has not ended. Its work from other addresses counts there too, so that many
   * addresses do not give one principal more turns.
   */
  address: Address;
  /** The waiters in call order. Those that have given up stay until their turn. */
  readonly queue: Queue<Waiter>;
}

/** At least so many principals are kept. Creating and removing an entry for each piece of work would cost more. */
const minKept = 1000;

/** The principals and addresses that a gate knows. */
export class Parties {
  readonly #principals = new Map<string, Principal>();
  readonly #addresses = new Map<string, Address>();
  /** How many principals there may be before the idle ones are forgotten. */
  #limit = minKept;

  /** Returns the principal with its address. Its work counts at one address until all of it has ended. */
  principalOf({ name, address, rank }: Caller): Principal {
    const known = this.#principals.get(name);
    if (known) {
      if (known.running === 0 && known.waiting === 0 && known.address.name !== address)
        known.address = this.#addressOf(address);
      return known;
    }
    if (this.#principals.size >= this.#limit) this.#forgetIdle();
    const from = this.#addressOf(address);
    const principal = { name, rank, address: from, running: 0, waiting: 0, queue: createQueue<Waiter>() };
    this.#principals.set(name, principal);
    return principal;
  }

  #addressOf(name: string): Address {
    let address = this.#addresses.get(name);
    if (!address) {
      address = { name, running: 0, waiting: 0, turns: noTurns() };
      this.#addresses.set(name, address);
    }
    return address;
  }

  #forgetIdle(): void {
    for (const { name, running, waiting } of this.#principals.values())
      if (running === 0 && waiting === 0) this.#principals.delete(name);
    const kept = new Set(this.#principals.values().map(({ address }) => address.name));
    for (const name of this.#addresses.keys()) if (!kept.has(name)) this.#addresses.delete(name);
    // While a crowd waits, new principals do not pay for looking through all of it each time.
    this.#limit = Math.max(minKept, 2 * this.#principals.size);
  }
}
