import type { Statement } from '../statement.ts';

/** How long a slow read is remembered, in milliseconds. */
const memoryMs = 10_000;
const maxClients = 1000;
const maxTextsPerClient = 20;

/** Remembers slow reads and their clients. */
export interface SlowReaders {
  /** Whether this client's recent reads include a slow one. */
  isSlow(client: string): boolean;
  /** Whether this client recently had a slow read with this statement. */
  isKnownSlow(client: string, statement: Statement): boolean;
  note(client: string, statement: Statement): void;
  /** Forgets a statement that was quick after all. */
  forget(client: string, statement: Statement): void;
  /** Whether nothing is remembered, so that the client need not be identified. */
  readonly isEmpty: boolean;
}

interface Memory {
  untilMs: number;
  readonly texts: Map<string, number>;
}

/** Creates an empty memory, which drops the oldest clients first. */
export function createSlowReaders(nowMs: () => number = () => performance.now()): SlowReaders {
  const known = new Map<string, Memory>();
  const find = (client: string): Memory | undefined => {
    const memory = known.get(client);
    return memory && memory.untilMs > nowMs() ? memory : undefined;
  };
  return {
    isSlow: (client) => find(client) !== undefined,
    isKnownSlow: (client, { text }) => (find(client)?.texts.get(text) ?? 0) > nowMs(),
    note(client, { text }) {
      const memory = find(client) ?? { untilMs: 0, texts: new Map() };
      memory.untilMs = nowMs() + memoryMs;
      putLast(memory.texts, text, memory.untilMs, maxTextsPerClient);
      putLast(known, client, memory, maxClients);
    },
    forget(client, { text }) {
      const memory = known.get(client);
      if (memory?.texts.delete(text) && memory.texts.size === 0) known.delete(client);
    },
    get isEmpty() {
      return known.size === 0;
    },
  };
}

function putLast<K, V>(map: Map<K, V>, key: K, value: V, maxSize: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxSize && oldest !== undefined) map.delete(oldest);
}
