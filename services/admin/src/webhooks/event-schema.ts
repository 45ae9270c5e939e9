import { boundedNumber, describedAs, exactText, timeSec } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';

const status = z.enum(['pending', 'success', 'dead']);
const unixMs = z.number().describe('unix milliseconds');

/** An event's delivery as a list shows it (webhooks §8.2). */
const shortDelivery = z.object({
  id: z.string(),
  webhook_id: z.string(),
  webhook_name: z.string(),
  status,
  attempt: z.number().describe('recorded attempts'),
  response_code: z.number().nullable(),
  created_at_ms: unixMs,
  completed_at_ms: unixMs.nullable(),
});

/** A stored event as a list shows it. */
export const eventJson = z.object({
  id: z.string(),
  event: z.string(),
  at_ms: unixMs,
  record_id: z.string().nullable(),
  version: z.string().nullable(),
  actor: z.object({ type: z.string(), id: z.string().nullable() }).nullable(),
  request_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  deliveries: z.array(shortDelivery).describe('the newest 20'),
  counts: z.partialRecord(status, z.number()).describe('delivery counts by status'),
});

/** An event with its body, and each delivery with its attempts. */
export const eventDetailsJson = eventJson
  .extend({
    body: z.object({}).loose().nullable().describe('the body that webhooks receive; null when it is no longer kept'),
    deliveries: z
      .array(
        shortDelivery.extend({
          error: z.string().nullable(),
          response_body: z.string().nullable(),
          next_attempt_at_ms: unixMs.nullable(),
          attempts: z.array(
            z.object({
              at_ms: unixMs.describe('when it began, in unix milliseconds'),
              response_code: z.number().nullable(),
              duration_ms: z.number(),
              error: z.string().nullable(),
            }),
          ),
        }),
      )
      .describe('the newest 100'),
  })
  .meta({ id: 'EventDetails' });

/** An event's position in the list: its time in microseconds and its id. */
const place = /^(\d{1,17})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const eventsQuery = z.object({
  cursor: boundedText(100)
    .refine((text) => text === '' || place.test(text), "must be a page's `next`")
    .transform((text) => {
      const [, atUs, id] = place.exec(text) ?? [];
      return atUs === undefined || id === undefined ? undefined : { atUs, id };
    })
    .optional()
    .meta(describedAs({ type: 'string' })),
  perPage: boundedNumber({ min: 1, max: 100, otherwise: 30 }),
  record: exactText.describe('a record id'),
  event: exactText.describe('a webhook pattern, such as `posts.create` or `posts.*`'),
  webhook: exactText.describe("a webhook's id, which has a delivery for the event"),
  status: z
    .enum(['', 'pending', 'success', 'dead'], 'must be pending, success or dead')
    .transform((text) => (text === '' ? undefined : text))
    .optional()
    .describe("one of its deliveries' status"),
  request_id: exactText.describe("the causing request's X-Request-Id"),
  since: timeSec.describe('not before this, in unix seconds'),
  until: timeSec.describe('not after this, in unix seconds'),
});

export type EventsQuery = z.output<typeof eventsQuery>;
