/** Gathers the refusals that a client causes: one second's refusals become one entry with their number. */
export interface RefusalMerger<T> {
  /** Adds a client's refusal. `describe` is called only for the second's first one. */
  add(client: string, describe: () => T): void;
  /** Emits the current second's entries at once. */
  flush(): void;
  /** Returns how many entries wait until their second ends. */
  waiting(): number;
}

/** How many clients have their own entry within a second. All further ones share an entry. */
const maxClients = 10_000;
const others = '';
const secondMs = 1000;

/**
 * Creates a merger that calls `emit` at each second's end, once for each client with refusals. So what a flood of
 * refusals leaves behind depends on how many clients cause it, not on how many requests. `nowMs` is in milliseconds
 * since the epoch.
 */
export function createRefusalMerger<T>(
  emit: (first: T, count: number) => void,
  nowMs: () => number = Date.now,
): RefusalMerger<T> {
  let entries = new Map<string, { readonly first: T; count: number }>();
  let second = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    const ended = entries;
    entries = new Map();
    for (const { first, count } of ended.values()) emit(first, count);
  }

  return {
    add(client, describe) {
      const now = nowMs();
      const current = Math.floor(now / secondMs);
      if (current !== second) flush();
      second = current;
      const key = entries.size < maxClients || entries.has(client) ? client : others;
      const entry = entries.get(key);
      if (entry) {
        entry.count += 1;
        return;
      }
      entries.set(key, { first: describe(), count: 1 });
      // The timer does not keep the process alive.
      if (entries.size === 1) timer = setTimeout(flush, secondMs - (now % secondMs)).unref();
    },
    flush,
    waiting: () => entries.size,
  };
}
