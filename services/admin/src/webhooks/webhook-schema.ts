import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { webhookMembers as fields, secretPrefix, wholeNumber } from './webhook-members.ts';
import { webhookOwner } from './webhook-owner.ts';

/** Members set by the server; ignored, so that a webhook that was read can be sent back. */
const readOnly = { id: z.unknown().optional(), created_at: z.unknown().optional(), updated_at: z.unknown().optional() };

/** The owner and the type are set once. A body that was read and is sent back has it too. */
const ignoredOwner = { owner: z.unknown().optional(), type: z.unknown().optional() };

const type = z.enum(['http', 'poll'], 'must be http or poll');

const createdMembers = z.strictObject({
  ...readOnly,
  ...fields,
  type: type.default('http').describe('poll: its events are read instead of sent'),
  url: fields.url.default('').describe('required, unless the type is poll'),
  // Not a schema default: the API document would show a secret, a different one for each process.
  secret: fields.secret.optional().transform((given) => given ?? newSecret()),
  headers: fields.headers.default({}),
  enabled: fields.enabled.default(true),
  retry_max: fields.retry_max.default(3),
  retry_backoff: fields.retry_backoff.default('exponential'),
  retry_delay_ms: fields.retry_delay_ms.default(1000),
  timeout_ms: fields.timeout_ms.default(30_000),
  rate: fields.rate.default(null),
  ordering: fields.ordering.default('none'),
  on_failure: fields.on_failure.default('block'),
  batch: fields.batch.default(null),
  filter: fields.filter.default(null),
  payload_days: fields.payload_days.default(null),
  owner: webhookOwner.nullable().default(null),
});

interface TypedUrl {
  readonly type?: 'http' | 'poll' | undefined;
  readonly url?: string | undefined;
}

const hasSuitableUrl = (webhook: TypedUrl): boolean => findTypeProblem(webhook) === undefined;

/** It is checked also if other members are wrong, so that an answer names all of them. */
const urlRefusal = {
  path: ['url'],
  error: ({ input }: { readonly input?: unknown }) => findTypeProblem(input as TypedUrl),
  when: ({ value, issues }: z.core.ParsePayload) =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => path?.[0] === 'url'),
};

interface Sending {
  readonly type?: 'http' | 'poll' | undefined;
  readonly ordering?: 'none' | 'record' | 'all' | undefined;
  readonly batch?: { readonly max: number } | null | undefined;
}

/** Who reads events gets them in a fixed order and in pages anyway. */
const sendingRules = {
  ordering: {
    error: 'must be none: the events of a webhook with type poll are read',
    holds: ({ type, ordering }: Sending): boolean => type !== 'poll' || ordering === 'none',
  },
  batch: {
    error: 'must be null: the events of a webhook with type poll are read',
    holds: ({ type, batch }: Sending): boolean => type !== 'poll' || !batch,
  },
};

/** Finds what a webhook of this type may not have: messages by member. */
export const findSendingProblems = (webhook: Sending): Record<string, string> =>
  Object.fromEntries(
    Object.entries(sendingRules).flatMap(([member, { error, holds }]) => (holds(webhook) ? [] : [[member, error]])),
  );

const checked = <T extends z.ZodType<TypedUrl & Sending>>(members: T) =>
  members
    .refine(hasSuitableUrl, urlRefusal)
    .refine(sendingRules.ordering.holds, { path: ['ordering'], error: sendingRules.ordering.error })
    .refine(sendingRules.batch.holds, { path: ['batch'], error: sendingRules.batch.error });

/** A create's body, with defaults and limits (webhooks §1.2). */
export const newWebhook = checked(createdMembers);

/** The same where the request itself names the owner (webhooks §9.6). */
export const newOwnedWebhook = checked(
  createdMembers.extend({
    owner: z
      .unknown()
      .optional()
      .transform(() => null)
      .describe('ignored: the request names the owner'),
  }),
);

/** Finds why a webhook of this type may not have the URL. */
export function findTypeProblem({ type, url }: TypedUrl): string | undefined {
  if (type !== 'poll') return url ? undefined : 'is required';
  return !url ? undefined : 'must be empty: the events of a webhook with type poll are read';
}

/** A PATCH's body: any of the same members. */
export const webhookChange = z.strictObject({ ...readOnly, ...ignoredOwner, ...fields }).partial();

/** How long a replaced secret keeps signing in addition to the new one, in seconds. */
const overlapSec = { default: 24 * 3600, max: 7 * 24 * 3600 };

/** A regeneration's body (webhooks §5.5). */
export const secretRegeneration = z.strictObject({
  overlap_seconds: wholeNumber(0, overlapSec.max)
    .default(overlapSec.default)
    .describe('how long the old secret keeps signing in the Standard Webhooks header; 0 ends it at once'),
});

/** A webhook as the API shows it. Admins may read its secret (webhooks §5.1). */
export const webhookJson = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(['http', 'poll']),
    url: z.string().describe('empty if the type is poll'),
    events: z.array(z.string()),
    secret: z.string(),
    headers: z.record(z.string(), z.string()),
    enabled: z.boolean(),
    retry_max: z.number(),
    retry_backoff: z.enum(['exponential', 'fixed']),
    retry_delay_ms: z.number(),
    timeout_ms: z.number(),
    rate: z.number().nullable().describe('deliveries a second; null for no limit'),
    ordering: z
      .enum(['none', 'record', 'all'])
      .describe("whose deliveries follow one another: each record's, or all of the webhook's"),
    on_failure: z
      .enum(['block', 'skip'])
      .describe('what a dead delivery does to those behind it; counts only with an order'),
    batch: z
      .object({
        max: z.number().describe('the most deliveries in a request'),
        wait_ms: z.number().describe('how long the first one waits for others'),
      })
      .nullable()
      .describe('null for one delivery in each request, whose body is not a list'),
    payload_days: z
      .number()
      .nullable()
      .describe('how many days the log keeps payloads; null for as long as deliveries'),
    filter: z.string().nullable().describe('the expression that events must fulfil; null for none'),
    owner: webhookOwner.nullable().describe("the record that owns it; null for an admin's"),
    created_at: z.number().describe('unix seconds'),
    updated_at: z.number().describe('unix seconds'),
  })
  .meta({ id: 'Webhook' });

/** A webhook whose key is shown: this once (webhooks §11). */
export const webhookWithKey = webhookJson.extend({
  key: z.string().optional().describe('for reading the events; only if the type is poll'),
});

export type NewWebhook = z.output<typeof newWebhook>;
export type WebhookChange = z.output<typeof webhookChange>;
export type Webhook = z.output<typeof webhookJson>;

/** Returns a new signing secret: 32 random bytes in the form of Standard Webhooks. */
export function newSecret(): string {
  return `${secretPrefix}${randomBytes(32).toString('base64')}`;
}
