import { z } from 'zod';

const seconds = z.int().describe('unix seconds');

/** An event of the product itself (events §1.2). */
export interface ProductEvent {
  readonly name: string;
  readonly description: string;
  /** What `data` has. */
  readonly data: z.ZodType;
  readonly example: Record<string, unknown>;
}

/** The events of the product itself. They go to no owner, except test events, which nobody subscribes to. */
export const productEvents: readonly ProductEvent[] = [
  {
    name: 'system.job.dead',
    description: "An extension's job has failed for good.",
    data: z.object({
      record: z.object({
        id: z.string(),
        name: z.string().describe("the extension's name and the job's"),
        extension: z.string(),
        key: z.string().nullable(),
        attempts: z.int(),
        error: z.string(),
        created: seconds,
        request_id: z.string().nullable(),
      }),
    }),
    example: {
      record: {
        id: '01890000-0000-7000-8000-000000000002',
        name: 'shop.close',
        extension: 'shop',
        key: null,
        attempts: 3,
        error: 'out of luck',
        created: 1_767_225_600,
        request_id: null,
      },
    },
  },
  {
    name: 'system.webhook.disabled',
    description: 'A webhook was disabled, because its receiver keeps failing or asked for it.',
    data: z.object({
      record: z.object({
        id: z.string(),
        name: z.string(),
        url: z.string(),
        failures: z.int(),
        failing_since: seconds.nullable(),
        reason: z.enum(['failing', 'asked']),
      }),
    }),
    example: {
      record: {
        id: '01890000-0000-7000-8000-000000000003',
        name: 'Accounting',
        url: 'https://receiver.example/hook',
        failures: 12,
        failing_since: 1_767_225_600,
        reason: 'failing',
      },
    },
  },
  {
    name: 'system.signed_in',
    description: 'A user signed in to a collection for which an extension has a hook.',
    data: z.object({
      flow: z.string(),
      collection: z.string(),
      user_id: z.string(),
      email: z.string().nullable(),
      identity: z.string().nullable(),
      client_address: z.string(),
      user_agent: z.string().nullable(),
    }),
    example: {
      flow: 'password',
      collection: 'users',
      user_id: '01890000-0000-7000-8000-000000000004',
      email: 'ann@example.com',
      identity: null,
      client_address: '192.0.2.1',
      user_agent: null,
    },
  },
  {
    name: 'webhooks.test',
    description: 'Someone tests the webhook. It comes without a pattern for it.',
    data: z.object({
      record: z.object({
        id: z.string(),
        test: z.literal(true),
        webhook_id: z.string(),
        webhook_name: z.string(),
      }),
    }),
    example: {
      record: {
        id: '01890000-0000-7000-8000-000000000001',
        test: true,
        webhook_id: '01890000-0000-7000-8000-000000000003',
        webhook_name: 'Accounting',
      },
    },
  },
];
