import { every } from './background-task.ts';
import { createSharedRefresh } from './shared-refresh.ts';
import type { TaskHealth, TaskLog } from './task-health.ts';

type Listener<T> = (after: T, before: T) => void;

/** An in-memory copy of stored data that changes when the data changes. */
export interface FollowedCopy<T> {
  /** The latest copy. Throws before `start`. */
  readonly current: T;
  /** Reads the first copy, then follows the data. Throws the read's errors. */
  start(): Promise<void>;
  /** Resolves when the current read has ended. */
  stop(): Promise<void>;
  /** Resolves when the copy has everything that was committed before the call. Throws the read's errors. */
  refresh(): Promise<void>;
  /** Whether the copy has everything that was committed `ageMs` ago. */
  isFresh(ageMs: number): boolean;
  /** Whether a notice has arrived since the last read began. */
  readonly isBehind: boolean;
  /** Calls the listener after each read that returned another copy. Returns a function that removes the listener. */
  onChange(listener: Listener<T>): () => void;
  /** How healthy the reads by notice and by poll are. */
  readonly health: TaskHealth;
}

interface CopyOptions<T> {
  /** The data's name in log lines: `the settings`. */
  readonly name: string;
  readonly log: TaskLog;
  /** Reads the data. Returns the given copy if nothing has changed. */
  readonly read: (before: T | undefined) => Promise<T>;
  /** Registers a listener for change notices; returns a function that removes it. */
  readonly onNotice: (listener: () => void) => () => void;
  /** The interval between reads without a notice, in milliseconds. */
  readonly pollMs: number;
  /** The effect while the data cannot be read; `the last copy stays in use` by default. */
  readonly meanwhile?: string;
}

/** Creates a followed copy. It is read at the start, at each notice, and by poll in case a notice was lost. */
export function followedCopy<T>(options: CopyOptions<T>): FollowedCopy<T> {
  const { name, log, read, onNotice, pollMs, meanwhile = 'the last copy stays in use' } = options;
  let copy: { readonly value: T } | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let notices = 0;
  let readNotices = 0;
  let endNotices = () => {};
  const listeners = new Set<Listener<T>>();
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
    const noticesBefore = notices;
    const before = copy;
    const value = await read(before?.value);
    copy = { value };
    readNotices = noticesBefore;
    readAtMs = startedAtMs;
    if (before && before.value !== value) announce(options, listeners, value, before.value);
  }

  return {
    get current() {
      if (!copy) throw new Error(`${name} were read before they were loaded`);
      return copy.value;
    },
    async start() {
      // Before the first read, so that no change committed during the read is missed.
      endNotices = onNotice(() => {
        notices += 1;
        following.wake();
      });
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
    get isBehind() {
      return notices > readNotices;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get health() {
      return following.health;
    },
  };
}

/** Calls all listeners, including those after one that throws. */
function announce<T>(
  { name, log }: Pick<CopyOptions<T>, 'name' | 'log'>,
  listeners: Iterable<Listener<T>>,
  after: T,
  before: T,
): void {
  for (const listener of listeners) {
    try {
      listener(after, before);
    } catch (error) {
      log.error({ err: error }, `a listener to ${name} failed`);
    }
  }
}
