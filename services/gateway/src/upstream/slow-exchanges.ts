import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { connectionsPerReplica } from './endpoints.ts';
import type { HeldConnection } from './held-connection.ts';
import { Slots } from './slots.ts';

/** How many connections to the services slow clients may hold. */
export interface SlowExchangeLimit {
  readonly perClient: number;
  readonly total: number;
  /** How long a new request is not counted, in milliseconds, since many quick ones may start at once. */
  readonly graceMs: number;
  /** How often it is checked, in milliseconds. */
  readonly everyMs: number;
}

/** Half the connections to a replica, and an eighth for each client. */
const defaultSlowExchangeLimit: SlowExchangeLimit = {
  perClient: connectionsPerReplica / 8,
  total: connectionsPerReplica / 2,
  graceMs: 5000,
  everyMs: 500,
};

/**
 * Bounds the connections to services that slow clients hold, so others get some too. Beyond a client's limit its oldest
 * slow requests are cut; beyond the total, those from the clients with the most. It checks at intervals, since a limit
 * that each new request meets would count requests that have only just started.
 */
export class SlowExchanges {
  readonly #held = new Slots<HeldConnection>();
  readonly #limit: SlowExchangeLimit;
  readonly #log: Logger;
  readonly #task: BackgroundTask;

  constructor(log: Logger, limit: SlowExchangeLimit = defaultSlowExchangeLimit) {
    this.#log = log;
    this.#limit = limit;
    this.#task = every({
      name: 'bound slow requests',
      log,
      intervalMs: limit.everyMs,
      firstAfterMs: limit.everyMs,
      run: async () => this.#check(),
    });
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  add(held: HeldConnection): void {
    this.#held.add(held);
  }

  remove(held: HeldConnection): void {
    this.#held.remove(held);
  }

  #check(): void {
    const { perClient, total, graceMs } = this.#limit;
    const beganBeforeMs = performance.now() - graceMs;
    const oldestFirst = this.#held
      .all()
      .filter((held) => held.sinceMs <= beganBeforeMs && held.isClientSlow())
      .sort((a, b) => a.sinceMs - b.sinceMs);
    const slow = Map.groupBy(oldestFirst, ({ client }) => client);
    const excess = [...slow.values()].flatMap((ofClient) =>
      ofClient.splice(0, Math.max(ofClient.length - perClient, 0)),
    );
    excess.push(...oldestOfLargest([...slow.values()], total));
    if (excess.length === 0) return;
    for (const held of excess) held.cut();
    this.#log.warn(
      { connections: excess.length },
      'connections cut: slow clients held too many connections to a service',
    );
  }
}

/** Takes the largest group's oldest item repeatedly, until at most `total` are left. */
function oldestOfLargest<T>(groups: readonly T[][], total: number): T[] {
  const taken: T[] = [];
  for (let left = groups.reduce((sum, { length }) => sum + length, 0); left > total; left -= 1) {
    const largest = groups.reduce((a, b) => (b.length > a.length ? b : a));
    taken.push(largest.shift() as T);
  }
  return taken;
}
