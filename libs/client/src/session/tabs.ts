/** What tabs with one session tell each other. */
export interface Tabs {
  /** Runs work while no other tab does. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Says that the session of the store has changed. */
  announce(): void;
  /** Calls back when another tab has changed it. */
  onChange(listener: () => void): void;
}

/** Web Locks: work with a name is done by one tab at a time. */
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

/** What the platform has for tabs; each may be missing. */
export function tabPlatform(): {
  readonly locks: Locks | undefined;
  readonly Channel: (new (topic: string) => Channel) | undefined;
} {
  const { locks } = Object(Reflect.get(globalThis, 'navigator')) as { readonly locks?: Locks };
  return { locks, Channel: Reflect.get(globalThis, 'BroadcastChannel') as never };
}

/** Connects the tabs that share a store, with what the platform has for it. */
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
      // Setting a listener takes the channel's leave to end away from Node.
      channel?.unref?.();
    },
  };
}
