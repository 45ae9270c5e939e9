import { createClientCounts } from '../connections/client-counts.ts';
import { sharedWriteBudget } from '../connections/connection-budget.ts';

/** Decides which clients may share commits, and for how many writes. */
export interface ClientShares {
  /** Takes a share. Returns false if there is none. Each share ends with `leave`. */
  tryEnter(client: string): boolean;
  leave(client: string): void;
  /** Gives a client no share for a while. */
  keepApart(client: string): void;
}

/** Creates the shares. The clients that were kept apart for the longest time are forgotten first. */
export function createClientShares(nowMs: () => number = () => performance.now()): ClientShares {
  const { atOnce, perClient, apartMs, maxApart } = sharedWriteBudget;
  const writes = createClientCounts(perClient);
  const apartUntilMs = new Map<string, number>();
  const isApart = (client: string): boolean => apartUntilMs.size > 0 && (apartUntilMs.get(client) ?? 0) > nowMs();
  return {
    tryEnter: (client) => writes.total < atOnce && !isApart(client) && writes.tryEnter(client),
    leave: writes.leave,
    keepApart(client) {
      apartUntilMs.delete(client);
      apartUntilMs.set(client, nowMs() + apartMs);
      const [oldest] = apartUntilMs.keys();
      if (apartUntilMs.size > maxApart && oldest !== undefined) apartUntilMs.delete(oldest);
    },
  };
}
