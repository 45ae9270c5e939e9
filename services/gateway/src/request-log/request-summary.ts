import type { Query } from '@recordbus/database';
import type { Span } from '@recordbus/http';
import { z } from 'zod';

const counts = { requests: z.int(), refused: z.int().describe('4xx'), failed: z.int().describe('5xx') };
const durations = { p50_ms: z.number(), p95_ms: z.number() };

/** Requests in a time range (admins §7.4). */
export const requestSummaryJson = z
  .object({
    since: z.int(),
    until: z.int(),
    step_s: z.int().describe('bucket length'),
    is_complete: z.boolean().describe('false if only the newest requests were counted'),
    buckets: z.array(z.object({ at: z.int().describe('where it begins, in unix seconds'), ...counts, ...durations })),
  })
  .meta({ id: 'RequestSummary' });

export type RequestSummary = z.output<typeof requestSummaryJson>;

/** How many rows are counted at most, since a summary must be quick. */
const maxCounted = 300_000;

const percentile = (part: number): string =>
  `round((percentile_disc(${part}) within group (order by duration_ms))::numeric, 2)`;

/** Summarises the requests in a time range in buckets; those without a request are left out. */
export async function summarizeRequests(query: Query, { since, until, stepSec }: Span): Promise<RequestSummary> {
  const [row] = await query<Pick<RequestSummary, 'is_complete' | 'buckets'>>({
    text: `with counted as materialized (
        select at, status, duration_ms, count from system.requests
        where at >= $1 and at <= $2 order by at desc, id desc limit ${maxCounted}
      ), placed as (
        select (at - $1) / $3 * $3 + $1 as bucket, status, duration_ms, count from counted
      )
      select (select count(*) from counted) < ${maxCounted} as is_complete,
        (select coalesce(json_agg(b order by b.at), '[]') from (
          select bucket as at, sum(count) as requests,
            coalesce(sum(count) filter (where status between 400 and 499), 0) as refused,
            coalesce(sum(count) filter (where status >= 500), 0) as failed, ${percentile(0.5)} as p50_ms, ${percentile(0.95)} as p95_ms
          from placed group by bucket
        ) as b) as buckets`,
    values: [since, until, stepSec],
  });
  return { since, until, step_s: stepSec, is_complete: true, buckets: [], ...row };
}
