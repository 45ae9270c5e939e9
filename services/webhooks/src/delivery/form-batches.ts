import { createHash } from 'node:crypto';
import type { Query } from '@recordbus/database';
import type { LeasedDelivery } from './claim.ts';

/** Deliveries that one request sends as a list. They have one webhook, and one lane if it has an order. */
export interface LeasedBatch {
  /** The request's `webhook-id`. */
  readonly id: string;
  readonly webhook_id: string;
  readonly deliveries: readonly [LeasedDelivery, ...LeasedDelivery[]];
}

/** What one request sends. */
export type Sending = LeasedDelivery | LeasedBatch;

export const isBatch = (sending: Sending): sending is LeasedBatch => 'deliveries' in sending;

/** Returns a request's deliveries. */
export const deliveriesOf = (sending: Sending): readonly LeasedDelivery[] =>
  isBatch(sending) ? sending.deliveries : [sending];

/** Tells which deliveries one request sends: those with the same key. */
const requestOf = ({ batch, webhook_id, lane, delivery_id }: LeasedDelivery): string =>
  batch ? `${webhook_id} ${lane?.id ?? ''} ${batch.id ?? ''}` : delivery_id;

/** Returns how many requests send the deliveries. */
export const countRequests = (claims: readonly LeasedDelivery[]): number => new Set(claims.map(requestOf)).size;

/**
 * Puts leased deliveries into requests. A batch's id is stored with its deliveries before it is sent, so that a retry sends the
 * same ones. It runs no statement for webhooks without batches.
 */
export async function formBatches(query: Query, claims: readonly LeasedDelivery[]): Promise<Sending[]> {
  if (claims.every(({ batch }) => !batch)) return [...claims];
  const sendings = [...Map.groupBy(claims, requestOf).values()].flatMap(([first, ...others]): Sending[] => {
    if (!first?.batch) return first ? [first] : [];
    const batch = [first, ...others] as const;
    return [{ id: idOf(batch), webhook_id: first.webhook_id, deliveries: batch }];
  });
  const marks = sendings
    .filter(isBatch)
    .flatMap(({ id, deliveries }) =>
      deliveries.filter(({ batch }) => batch?.id !== id).map((delivery) => ({ id, delivery })),
    );
  if (marks.length > 0) await mark(query, marks);
  return sendings;
}

/** A UUIDv8 of the deliveries: other deliveries never have the same id, and a receiver may tell repetitions by it. */
function idOf(deliveries: readonly LeasedDelivery[]): string {
  const hash = createHash('sha256');
  for (const { delivery_id } of deliveries) hash.update(delivery_id);
  const hex = hash.digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

interface Mark {
  readonly id: string;
  readonly delivery: LeasedDelivery;
}

/** Stores the batches' ids. */
const mark = (query: Query, marks: readonly Mark[]) =>
  query({
    name: 'batches.mark',
    text: `with mark as (
        select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as m (delivery_id, occurred_at, batch_id)
      ), free as (
        update system.delivery_queue q set batch_id = mark.batch_id from mark where q.delivery_id = mark.delivery_id
      ), ordered as (
        update system.ordered_deliveries d set batch_id = mark.batch_id from mark where d.delivery_id = mark.delivery_id
      )
      update system.deliveries d set batch_id = mark.batch_id
      from mark where d.id = mark.delivery_id and d.occurred_at = mark.occurred_at`,
    values: [
      marks.map(({ delivery }) => delivery.delivery_id),
      marks.map(({ delivery }) => delivery.occurred_at),
      marks.map(({ id }) => id),
    ],
  });
