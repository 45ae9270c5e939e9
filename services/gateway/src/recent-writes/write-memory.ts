import { type Consistency, laterOf } from '@recordbus/request/consistency';

/** The database states that clients need, for a while. */
interface WriteMemory {
  stateOf(client: string): Consistency | undefined;
  note(client: string, state: Consistency): void;
}

interface MemoryOptions {
  readonly forMs: number;
  readonly nowMs: () => number;
  /** How many clients are remembered. With more, everyone needs the oldest one's state. */
  readonly maxClients?: number;
}

interface Entry {
  readonly state: Consistency;
  readonly untilMs: number;
}

/** Creates an empty memory. */
export function createWriteMemory({ forMs, nowMs, maxClients = 100_000 }: MemoryOptions): WriteMemory {
  const entries = new Map<string, Entry>();
  let everyone: Entry | undefined;

  const valid = (entry: Entry | undefined): Consistency | undefined =>
    entry && entry.untilMs > nowMs() ? entry.state : undefined;

  /** Drops expired states, the oldest first, and one more if there are too many. */
  function drop(): void {
    for (const [client, entry] of entries) {
      const state = valid(entry);
      if (state !== undefined && entries.size <= maxClients) return;
      entries.delete(client);
      if (state !== undefined) everyone = { ...entry, state: laterOf(valid(everyone), state) ?? state };
    }
  }

  return {
    stateOf: (client) => laterOf(valid(entries.get(client)), valid(everyone)),
    note(client, state) {
      const later = laterOf(valid(entries.get(client)), state) ?? state;
      entries.delete(client);
      entries.set(client, { state: later, untilMs: nowMs() + forMs });
      drop();
    },
  };
}
