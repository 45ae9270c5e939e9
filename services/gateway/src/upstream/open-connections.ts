import { heartbeat } from '@recordbus/process/background';
import type { HeldConnection, HeldConnections } from './held-connection.ts';
import { Slots } from './slots.ts';

/**
 * How often remaining connections are ended, in milliseconds. A connection that is being opened can only end once it is
 * open.
 */
const sweepMs = 50;

/** The connections that stay open between clients and a service's replicas. */
export class OpenConnections implements HeldConnections {
  readonly #open = new Slots<HeldConnection>();

  add(held: HeldConnection): void {
    this.#open.add(held);
  }

  remove(held: HeldConnection): void {
    this.#open.remove(held);
  }

  /** Ends all connections, so their clients connect to another gateway. Cuts those that remain after `maxMs`. */
  drain(maxMs: number): Promise<void> {
    const deadlineMs = performance.now() + maxMs;
    return new Promise((resolve) => {
      const endSweep = heartbeat(sweepMs, () => {
        const rest = this.#open.all();
        const isOver = performance.now() >= deadlineMs;
        for (const held of rest) {
          if (isOver) held.cut();
          else held.end();
        }
        if (rest.length > 0) return;
        endSweep();
        resolve();
      });
    });
  }
}
