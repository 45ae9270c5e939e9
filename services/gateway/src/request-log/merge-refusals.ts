/** Gathers the refusals that a client causes: those of one second become one entry with their number. */
export interface RefusalMerger<T> {
  /** Adds a refusal of a client. `describe` is called only for the first one of the second. */
  add(client: string, describe: () => T): void;
  /** Emits the entries of the current second at once. */
  flush(): void;
  /** Returns the number of entries that wait for the end of their second. */
  waiting(): number;
}

/** The maximum number of clients with an entry of their own within a second. All further ones share an entry. */
const maxClients = 10_000;
const others = '';
const secondMs = 1000;

/**
 * Creates a merger that calls `emit` at the end of each second, once for each client with refusals. So what a flood of
 * refusals leaves behind depends on the number of clients, not of requests. `nowMs` is in milliseconds since the epoch.
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
