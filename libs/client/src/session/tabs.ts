/** Coordinates tabs with the same session. */
export interface Tabs {
  /** Runs work while no other tab runs any. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Notifies the other tabs that the session of the store has changed. */
  announce(): void;
  /** Calls the listener when another tab has changed the session. */
  onChange(listener: () => void): void;
}

/** Web Locks: one tab at a time holds the lock of a name. */
export interface Locks {
  request<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** A channel between the tabs of an origin. */
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

/** Connects the tabs that share a store, as far as the platform supports it. */
export function connectTabs(name: string | undefined): Tabs {
  if (name === undefined) return { alone: (work) => work(), announce: () => {}, onChange: () => {} };
  const topic = `recordbus:${name}`;
  const { locks, Channel } = tabPlatform();
  const channel = Channel && new Channel(topic);
  channel?.unref?.();
  return {
    alone: (work) => (locks ? locks.request(topic, work) : work()),
    announce: () => channel?.postMessage('changed'),
    onChange(listener) {
      if (channel) channel.onmessage = listener;
      // A listener keeps Node from ending while the channel is open.
      channel?.unref?.();
    },
  };
}
