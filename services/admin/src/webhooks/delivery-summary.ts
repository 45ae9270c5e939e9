import type { Query } from '@recordbus/database';
import type { Span } from '@recordbus/http';
import { z } from 'zod';

const counts = { success: z.int(), dead: z.int(), pending: z.int() };

/** Deliveries in a time range (webhooks §8.4). */
export const deliverySummaryJson = z
  .object({
    since: z.int(),
    until: z.int(),
    step_s: z.int().describe('bucket length'),
    is_complete: z.boolean().describe('false if only the newest deliveries are counted, because there are too many'),
    buckets: z.array(z.object({ at: z.int().describe('where it begins, in unix seconds'), ...counts })),
    webhooks: z.array(z.object({ id: z.string(), name: z.string(), ...counts })).describe('most deliveries first'),
  })
  .meta({ id: 'DeliverySummary' });

/** How many deliveries are counted, to keep a summary quick. */
const maxCounted = 300_000;

const byStatus = ['success', 'dead', 'pending']
  .map((status) => `'${status}', count(*) filter (where status = '${status}')`)
  .join(', ');

/** Counts the deliveries in a time range by status: over time, and by webhook. */
export async function summarizeDeliveries(
  query: Query,
  { since, until, stepSec }: Span,
): Promise<z.output<typeof deliverySummaryJson>> {
  const [row] = await query<Pick<z.output<typeof deliverySummaryJson>, 'is_complete' | 'buckets' | 'webhooks'>>({
    text: `with counted as materialized (
        select webhook_id, status, extract(epoch from created_at) as at from system.deliveries
        where id >= $1::uuid and id < $2::uuid order by id desc limit ${maxCounted}
      ), buckets as (
        select json_build_object('at', bucket, ${byStatus}) as json, bucket
        from (select status, greatest(0, floor((at - $3) / $4))::int * $4::int + $3::bigint as bucket from counted) as placed
        group by bucket
      ), webhooks as (
        select json_build_object('id', w.id, 'name', w.name, ${byStatus}) as json, count(*) as total
        from counted join system.webhooks w on w.id = webhook_id group by w.id, w.name order by total desc limit 50
      )
      select (select count(*) from counted) < ${maxCounted} as is_complete,
        (select coalesce(json_agg(json order by bucket), '[]') from buckets) as buckets,
        (select coalesce(json_agg(json order by total desc), '[]') from webhooks) as webhooks`,
    values: [firstIdAt(since), firstIdAfter(until), since, stepSec],
  });
  return { since, until, step_s: stepSec, is_complete: true, buckets: [], webhooks: [], ...row };
}

/** Delivery ids are UUIDv7 (`system.delivery_id`, `system.new_id`), so a time range is an id range. */
const idAtMs = (atMs: number): string => {
  const hex = Math.min(atMs, 0xffff_ffff_ffff).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

/** A second's smallest id (unix). */
const firstIdAt = (atSec: number): string => idAtMs(atSec * 1000);

/** The smallest id after a second (unix). */
const firstIdAfter = (atSec: number): string => idAtMs((atSec + 1) * 1000);
