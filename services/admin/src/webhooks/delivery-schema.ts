import { flag, pageQuery } from '@recordbus/http';
import { z } from 'zod';

const status = z.enum(['pending', 'success', 'dead'], 'must be pending, success or dead');
const unixSeconds = z.number().describe('unix seconds');

/** A delivery as the API shows it (webhooks §4.2). */
export const deliveryJson = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    event_id: z.string(),
    event: z.string(),
    batch_id: z.string().nullable().describe('the `webhook-id` of the last request with it, if that had a batch'),
    status,
    attempt: z.number().describe('recorded attempts'),
    response_code: z.number().nullable(),
    response_body: z.string().nullable(),
    error: z.string().nullable(),
    payload: z
      .object({})
      .loose()
      .nullable()
      .optional()
      .describe('the request body; null when it is no longer kept, and missing with `skipPayload`'),
    attempts: z.array(
      z.object({
        at: unixSeconds,
        response_code: z.number().nullable(),
        duration_ms: z.number(),
        error: z.string().nullable(),
      }),
    ),
    next_attempt_at: unixSeconds.nullable().describe('null unless pending'),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    completed_at: unixSeconds.nullable(),
  })
  .meta({ id: 'Delivery' });

export const deliveriesQuery = pageQuery.extend({
  status: status.optional(),
  event: z.string().optional().describe("an event's exact name"),
  skipTotal: flag.describe('count nothing; the totals are -1'),
  skipPayload: flag.describe('omit the payload, which may be large'),
});

const timeSec = z
  .number('must be unix seconds')
  .min(0, 'must be unix seconds')
  .max(253_402_300_799, 'must be unix seconds');

/** A replay's body (webhooks §4.5). */
export const replayRequest = z.strictObject({
  since: timeSec,
  until: timeSec.optional(),
  status: status.optional(),
  dry_run: z.boolean('must be true or false').default(false).describe('only count'),
  missing: z
    .boolean('must be true or false')
    .default(false)
    .describe('also the events of the last seven days that match and were never sent to it'),
});

export type DeliveriesQuery = z.output<typeof deliveriesQuery>;
export type ReplayRequest = z.output<typeof replayRequest>;
