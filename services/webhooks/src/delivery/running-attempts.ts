import type { LeasedDelivery } from './claim.ts';

/** The attempts in progress in this process. */
interface RunningAttempts {
  readonly size: number;
  /** Returns a copy of the counts, by webhook. */
  countByWebhook(): ReadonlyMap<string, number>;
  /** Runs an attempt of a webhook. */
  run(webhookId: string, attempt: () => Promise<void>): void;
  /** Resolves when the current attempts have ended. */
  ended(): Promise<unknown>;
}

/** Creates an empty set of attempts. */
export function createRunningAttempts(): RunningAttempts {
  const counts = new Map<string, number>();
  const running = new Set<Promise<void>>();
  return {
    get size() {
      return running.size;
    },
    countByWebhook: () => new Map(counts),
    run(webhookId, attempt) {
      count(counts, webhookId, 1);
      const begun = attempt().finally(() => {
        count(counts, webhookId, -1);
        running.delete(begun);
      });
      running.add(begun);
    },
    ended: () => Promise.all(running),
  };
}

/**
 * The maximum number of concurrent attempts of one webhook: high while the process is idle, low when many receivers
 * hang.
 */
export const shareOf = (underWay: number): number => (underWay < 200 ? 64 : underWay < 600 ? 8 : 2);

/** Whether a webhook reaches its share with these claims. */
export function isShareTaken(
  claims: readonly LeasedDelivery[],
  inFlight: ReadonlyMap<string, number>,
  perWebhook: number,
): boolean {
  const counts = new Map(inFlight);
  for (const { webhook_id } of claims) count(counts, webhook_id, 1);
  return counts.values().some((one) => one >= perWebhook);
}

/** Adds to the count of a webhook, and removes a count of 0. */
function count(counts: Map<string, number>, webhookId: string, by: 1 | -1): void {
  const after = (counts.get(webhookId) ?? 0) + by;
  if (after > 0) counts.set(webhookId, after);
  else counts.delete(webhookId);
}
