import type { Bus } from '@recordbus/bus';
import { type Consistency, consistencyMs, laterOf } from '@recordbus/request/consistency';
import { createWriteMemory } from './write-memory.ts';

/** Remembers for each client the database's state after its last writes. */
export interface RecentWrites {
  /** The state that the client's reads need; undefined if it has not written lately. */
  stateOf(client: string): Consistency | undefined;
  /** Remembers the state after a write, here and on other gateways. */
  note(client: string, state: Consistency): void;
  start(): void;
  stop(): void;
}

/**
 * Creates the memory. Other gateways learn about a write by a message, which leaves before the answer, together with
 * others from the same event loop turn. If the message is late or lost, only clients that send the state themselves see
 * their writes through another gateway.
 */
export function createRecentWrites(
  bus: Pick<Bus, 'publish' | 'subscribe'>,
  nowMs: () => number = () => performance.now(),
): RecentWrites {
  const memory = createWriteMemory({ forMs: consistencyMs, nowMs });
  let unsent = new Map<string, Consistency>();
  let unsubscribe = () => {};

  function send(): void {
    const text = JSON.stringify([...unsent]);
    unsent = new Map();
    bus.publish('consistency', text);
  }

  return {
    stateOf: memory.stateOf,
    note(client, state) {
      memory.note(client, state);
      if (unsent.size === 0) queueMicrotask(send);
      unsent.set(client, laterOf(unsent.get(client), state) ?? state);
    },
    start() {
      unsubscribe = bus.subscribe('consistency', (text) => {
        for (const [client, state] of JSON.parse(text) as [string, Consistency][]) memory.note(client, state);
      });
    },
    stop: () => unsubscribe(),
  };
}
