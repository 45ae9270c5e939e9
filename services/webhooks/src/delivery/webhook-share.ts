import type { LeasedDelivery } from './claim.ts';

/**
 * The maximum number of concurrent attempts of one webhook: high while the process is idle, low when many receivers
 * hang.
 */
export const shareOf = (underWay: number): number => (underWay < 200 ? 64 : underWay < 600 ? 8 : 2);

/** Counts deliveries by webhook. */
export function countByWebhook(deliveries: readonly LeasedDelivery[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { webhook_id } of deliveries) counts.set(webhook_id, (counts.get(webhook_id) ?? 0) + 1);
  return counts;
}
