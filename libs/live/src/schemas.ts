import type { Principal } from '@recordbus/request/context';
import { z } from 'zod';

/* The internal routes' bodies. Both ends are services from one release, so the schemas check only the shape. The
   code that reads the values checks them. */

const principal = z.custom<Principal>(
  (value) => typeof value === 'object' && value !== null && 'type' in value,
  'must be a principal',
);

const caller = z.object({
  principal,
  address: z.string().optional(),
  headers: z.record(z.string(), z.string()),
  query: z.record(z.string(), z.string()),
});

const text = z.string().optional();

const request = z.object({
  collection: z.string(),
  record: text,
  filter: text,
  expand: text,
  fields: text,
  showsDeleted: z.literal(true).optional(),
});

const snapshotRequest = request.extend({
  page: z.number().optional(),
  perPage: z.number().optional(),
  sort: text,
});

const crossed = z.object({
  collection: z.string(),
  collectionId: z.string(),
  fields: z.array(z.string()),
  accountFields: z.array(z.string()),
  isCaller: z.boolean(),
});

const plan = z.object({
  key: z.string(),
  request,
  collectionId: z.string(),
  callerKind: z.string(),
  readsValues: z.boolean(),
  hasCandidates: z.boolean(),
  crossed: z.array(crossed),
});

const values = z.array(z.unknown());

const event = z.object({
  id: z.string(),
  record: text,
  verb: z.enum(['create', 'update', 'delete']),
  version: z.string(),
  schema: text,
  data: text,
});

const batch = z.object({ plan, events: z.array(event), client: z.string() });

const callers = z.union([z.literal('all'), z.array(z.number())]);

const verdict = z.object({
  before: callers,
  now: callers,
  records: z.array(z.object({ callers, json: z.string(), changed: z.array(z.string()).optional() })),
  isLost: z.boolean().optional(),
});

/** A refusal within an answer: its body, status and headers. */
export const refusal = z.object({
  status: z.number(),
  code: z.string(),
  error: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  headers: z.record(z.string(), z.string()),
});

/** Each internal route's body, and the `data` in its answer. */
export const liveSchemas = {
  open: {
    body: z.object({ requests: z.array(z.object({ request: snapshotRequest, caller })) }),
    answer: z.array(z.union([z.object({ plan, values }), z.object({ refusal })])),
  },
  snapshot: {
    body: z.object({ request: snapshotRequest, caller }),
    answer: z.object({ records: z.string(), total: z.number().optional(), at: z.number().optional() }),
  },
  candidates: { body: batch, answer: z.object({ ids: z.array(z.string()).optional() }) },
  judge: {
    body: batch.extend({ callers: z.array(values) }),
    answer: z.union([
      z.object({ isStale: z.literal(true) }),
      z.object({ isStale: z.literal(false), events: z.array(verdict) }),
    ]),
  },
  isCurrent: { body: z.object({ plans: z.array(plan) }), answer: z.array(z.boolean()) },
  channel: {
    body: z.object({ rule: z.string().nullable(), channel: z.string(), caller }),
    answer: z.object({ admits: z.boolean() }),
  },
} as const;
