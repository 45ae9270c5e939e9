import { setTimeout } from 'node:timers/promises';
import { whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { Position } from './position.ts';
import type { ReadReplica } from './read-replica.ts';

/** How long a read waits for a replica that is recent enough, in milliseconds. */
const waitMs = 50;

/** The pause between two checks, in milliseconds. */
const lookMs = 5;

interface Waiter {
  readonly needed: Position;
  readonly untilMs: number;
  readonly found: (replica: ReadReplica | undefined) => void;
}

/** Waits for replicas. */
interface UntilReached {
  /** Waits until a replica has a position. Returns undefined if none has it in time. */
  wait(needed: Position): Promise<ReadReplica | undefined>;
  stop(): Promise<void>;
}

/** Creates the waits. They share the replica checks. */
export function createUntilReached(
  replicas: readonly ReadReplica[],
  find: (needed: Position) => ReadReplica | undefined,
  log: Logger,
): UntilReached {
  const waiters = new Set<Waiter>();

  function answer(): void {
    for (const waiter of waiters) {
      const replica = find(waiter.needed);
      if (!replica && performance.now() < waiter.untilMs) continue;
      waiters.delete(waiter);
      waiter.found(replica);
    }
  }

  async function look(): Promise<number | undefined> {
    const timeline = Math.max(...[...waiters].map(({ needed }) => needed.timeline));
    // A silent replica does not delay the others.
    await Promise.race([Promise.all(replicas.map((replica) => lookAt(replica, timeline))), setTimeout(lookMs)]);
    answer();
    return waiters.size > 0 ? lookMs : undefined;
  }

  const looking = whenWoken({ name: 'ask the read replicas that reads wait for', log, run: look, soonMs: 1 });
  return {
    wait: (needed) =>
      new Promise((found) => {
        waiters.add({ needed, untilMs: performance.now() + waitMs, found });
        looking.wakeSoon();
      }),
    stop: () => looking.stop(),
  };
}

/** Checks a replica that can be used. The others are checked once a second. */
const lookAt = async (replica: ReadReplica, timeline: number): Promise<void> => {
  if (replica.problem === undefined) await replica.look(timeline);
};
