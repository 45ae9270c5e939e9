import { every } from './background-task.ts';
import { createSharedRefresh } from './shared-refresh.ts';
import type { TaskHealth, TaskLog } from './task-health.ts';

/** A copy of stored data in memory that changes when the data changes. */
export interface FollowedCopy<T> {
  /** The last copy that was read. Throws before `start`. */
  readonly current: T;
  /** Reads the first copy, then follows the data; throws what the read throws. */
  start(): Promise<void>;
  /** Resolves when the read under way has ended. */
  stop(): Promise<void>;
  /** Resolves when everything that was committed before the call is in the copy; throws what the read throws. */
  refresh(): Promise<void>;
  /** Whether the copy has everything that was committed `ageMs` ago. */
  isFresh(ageMs: number): boolean;
  /** Calls back after each read that gave another copy. Gives the function that ends it. */
  onChange(listener: (after: T, before: T) => void): () => void;
  /** Of the reads by notice and by poll. */
  readonly health: TaskHealth;
}

interface CopyOptions<T> {
  /** What is copied, as the log names it: `the settings`. */
  readonly name: string;
  readonly log: TaskLog;
  /** Reads the data; the copy of before is given back when nothing has changed. */
  readonly read: (before: T | undefined) => Promise<T>;
  /** Listens to notices of changes; gives the function that ends it. */
  readonly onNotice: (listener: () => void) => () => void;
  /** From one read to the next without a notice, in milliseconds. */
  readonly pollMs: number;
  /** What holds while the data cannot be read; that the last copy stays in use when not given. */
  readonly meanwhile?: string;
}

/** Makes a followed copy: read at the start, at each notice, and by poll in case a notice was lost. */
export function followedCopy<T>(options: CopyOptions<T>): FollowedCopy<T> {
  const { name, log, read, onNotice, pollMs, meanwhile = 'the last copy stays in use' } = options;
  let copy: { readonly value: T } | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let endNotices = () => {};
  const listeners = new Set<(after: T, before: T) => void>();
  const refresh = createSharedRefresh(replace);
  const following = every({
    name: `read ${name}`,
    log,
    meanwhile,
    intervalMs: pollMs,
    firstAfterMs: pollMs,
    run: refresh.run,
  });

  async function replace(): Promise<void> {
    const startedAtMs = performance.now();
    const before = copy;
    const value = await read(before?.value);
    copy = { value };
    readAtMs = startedAtMs;
    if (before && before.value !== value) announce(value, before.value);
  }

  function announce(after: T, before: T): void {
    for (const listener of listeners) {
      try {
        listener(after, before);
      } catch (error) {
        log.error({ err: error }, `a listener to ${name} failed`);
      }
    }
  }

  return {
    get current() {
      if (!copy) throw new Error(`${name} were read before they were loaded`);
      return copy.value;
    },
    async start() {
      // Before the first read: a change that is committed during it must not be missed.
      endNotices = onNotice(following.wake);
      await refresh.run();
      following.start();
    },
    async stop() {
      endNotices();
      await following.stop();
      await refresh.idle();
    },
    refresh: refresh.run,
    isFresh: (ageMs) => performance.now() - readAtMs < ageMs,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get health() {
      return following.health;
    },
  };
}
