import type { EgressClient } from '@recordbus/egress';
import { attemptDelivery, endUnkept, isUnkept } from './attempt.ts';
import type { LeasedBatch } from './form-batches.ts';
import type { AttemptOutcome } from './record-outcomes.ts';

/** The event that a batch's request names (webhooks §2.11). */
const batchEvent = 'webhooks.batch';

/**
 * Attempts a batch once, and returns the outcome of each of its deliveries. They have the request's outcome, except those whose
 * event is no longer kept: these are not sent. Never throws. `mayStart` is that of `attemptDelivery`.
 */
export async function attemptBatch(
  client: EgressClient,
  { id, deliveries }: LeasedBatch,
  mayStart?: () => boolean,
): Promise<AttemptOutcome[]> {
  const kept = deliveries.filter((delivery) => !isUnkept(delivery));
  const ended = deliveries.filter(isUnkept).map(endUnkept);
  const [first] = kept;
  if (!first) return ended;
  const most = (count: 'attempt' | 'lost_leases') => Math.max(...kept.map((delivery) => delivery[count]));
  const outcome = await attemptDelivery(
    client,
    {
      ...first,
      delivery_id: id,
      event: batchEvent,
      body: `[${kept.map(({ body }) => body).join(',')}]`,
      attempt: most('attempt'),
      lost_leases: most('lost_leases'),
    },
    mayStart,
  );
  return [
    ...kept.map(({ delivery_id, occurred_at, lease_token }, index) => ({
      ...outcome,
      deliveryId: delivery_id,
      occurredAt: occurred_at,
      leaseToken: lease_token,
      isSameRequest: index > 0,
    })),
    ...ended,
  ];
}
