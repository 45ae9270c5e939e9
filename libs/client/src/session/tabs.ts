import { wait } from '../retry.ts';

/** Coordinates tabs with the same session. */
export interface Tabs {
  /**
   * Runs a name's work in one tab. In the others it waits until `isDone`; if the work fails or its tab is closed, the
   * next tab runs it. `isDone` says whether this tab sees the result, which other tabs may see later.
   */
  once(name: string, work: () => Promise<void>, isDone: () => Promise<boolean>): Promise<void>;
  /** Notifies the other tabs that the store's session has changed. */
  announce(): void;
  /** Calls the listener when another tab has changed the session. */
  onChange(listener: () => void): void;
}

/** Web Locks: one tab at a time holds a name's lock. */
export interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** A channel between an origin's tabs. */
export interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  /** Only in Node: lets the process end while the channel is open. */
  unref?(): void;
}

/** The platform's locks and channels; each may be missing. */
export function tabPlatform(): {
  readonly locks: Locks | undefined;
  readonly Channel: (new (topic: string) => Channel) | undefined;
} {
  const { locks } = Object(Reflect.get(globalThis, 'navigator')) as { readonly locks?: Locks };
  return { locks, Channel: Reflect.get(globalThis, 'BroadcastChannel') as never };
}

/**
 * How long a tab keeps finished work's lock, in milliseconds. A write to `localStorage` reaches the other tabs after
 * it, later on a busy machine, and nothing says when. Without the lock, a tab that does not see the result repeats the
 * work.
 */
const seenAfterMs = 5000;

/** How often a waiting tab looks for the result, in milliseconds. */
const pollMs = 20;

/** Connects the tabs that share a store, as far as the platform supports it. */
export function connectTabs(name: string | undefined): Tabs {
  if (name === undefined) return { once: (_, work) => work(), announce: () => {}, onChange: () => {} };
  const topic = `recordbus:${name}`;
  const { locks, Channel } = tabPlatform();
  const channel = Channel && new Channel(topic);
  channel?.unref?.();
  return {
    once: (task, work, isDone) => (locks ? runOnce(locks, `${topic}:${task}`, work, isDone) : work()),
    announce: () => channel?.postMessage('changed'),
    onChange(listener) {
      if (channel) channel.onmessage = listener;
      // A listener keeps Node from ending while the channel is open.
      channel?.unref?.();
    },
  };
}

function runOnce(locks: Locks, lock: string, work: () => Promise<void>, isDone: () => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isWaiting = true;
    const watch = async (): Promise<void> => {
      while (isWaiting && !(await isDone())) await wait(pollMs, undefined);
      if (!isWaiting) return;
      isWaiting = false;
      resolve();
    };
    const runInTurn = async (): Promise<void> => {
      if (!isWaiting) return;
      isWaiting = false;
      await work().then(resolve, reject);
      if (await isDone()) await pause(seenAfterMs);
    };
    watch().catch(reject);
    locks.request(lock, runInTurn).catch(reject);
  });
}

/** Waits, and lets Node end in the meantime. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer: { unref?(): void } = Object(setTimeout(resolve, ms));
    timer.unref?.();
  });
}
