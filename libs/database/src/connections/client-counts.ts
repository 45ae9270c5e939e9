/** Counts each client's work, up to a limit. */
export interface ClientCounts {
  /** Counts one more. Returns false if the client has reached its limit. */
  tryEnter(client: string): boolean;
  leave(client: string): void;
  /** All clients' count. */
  readonly total: number;
}

/** Creates the counts. A client without work takes no memory. */
export function createClientCounts(perClient: number): ClientCounts {
  const countOf = new Map<string, number>();
  let total = 0;
  return {
    tryEnter(client) {
      const count = countOf.get(client) ?? 0;
      if (count >= perClient) return false;
      countOf.set(client, count + 1);
      total += 1;
      return true;
    },
    leave(client) {
      const left = (countOf.get(client) ?? 1) - 1;
      if (left > 0) countOf.set(client, left);
      else countOf.delete(client);
      total -= 1;
    },
    get total() {
      return total;
    },
  };
}
