import { type AppError, malformed, validationFailed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { toJsonSchema } from '@recordbus/http';
import type { SnapshotRequest } from '@recordbus/live';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { type ChannelSubscriptionRequest, channelSubscription } from '../channels/channel-request.ts';
import { type Cursor, readCursor } from '../stream/cursor.ts';

/** How many subscriptions a connection may have (realtime §2.4). */
export const maxSubscriptions = 100;

const id = z.string().min(1).max(100);
/** A subscription keeps its texts, and reads them in one piece. */
const text = boundedText(16_384);
/** `id in (…)` with a thousand ids is longer (filters §3). */
const filter = boundedText(65_536);
const page = z.strictObject({
  page: z.int().min(1).optional(),
  perPage: z.int().min(1).optional(),
  sort: text.optional(),
});

/** A client's subscription to records (realtime §2.1). */
const recordSubscription = z
  .strictObject({
    id: id.optional(),
    collection: text,
    record: text.refine((id) => id !== '', 'must not be empty').optional(),
    filter: filter.optional(),
    expand: text.optional(),
    fields: text.optional(),
    snapshot: z.union([z.boolean(), page], { error: 'must be true or {page, perPage, sort}' }).optional(),
    after: text.optional(),
  })
  .meta({ id: 'RecordSubscription' });

/** The schema for a body with subscriptions. They are read one by one, so a refused one does not affect the others. */
export const describedSubscriptions = toJsonSchema(
  z.object({ subscriptions: z.array(z.union([recordSubscription, channelSubscription])) }),
  'input',
);

/** A parsed subscription to records. */
export interface RecordSubscriptionRequest {
  readonly id: string;
  readonly request: SnapshotRequest;
  readonly wantsSnapshot: boolean;
  readonly after: Cursor | undefined;
}

/** A subscription, or why it is refused. */
export type ReadSubscription =
  | RecordSubscriptionRequest
  | ChannelSubscriptionRequest
  | { readonly id: string; readonly refusal: AppError };

/** Reads a subscription; `number` is its id if it names none, `resumeFrom` the connection's cursor if it has none. */
export function readSubscription(value: unknown, number: number, resumeFrom?: Cursor): ReadSubscription {
  if (hasMember(value, 'channel')) {
    const read = channelSubscription.safeParse(value);
    if (!read.success) return { id: idOf(value, number), refusal: notReadable(read.error, value) };
    return { id: String(number), presence: undefined, ...read.data };
  }
  if (hasMember(value, 'search')) return { id: idOf(value, number), refusal: validationFailed(noSearch) };
  const read = recordSubscription.safeParse(value);
  if (!read.success) return { id: idOf(value, number), refusal: notReadable(read.error, value) };
  const { id = String(number), snapshot, after: cursor, ...request } = read.data;
  const after = cursor === undefined ? resumeFrom : readCursor(cursor);
  if (cursor !== undefined && !after)
    return { id, refusal: malformed('after: is not a cursor', { after: 'is not a cursor' }) };
  const wanted = typeof snapshot === 'object' ? snapshot : {};
  return { id, request: { ...request, ...wanted }, wantsSnapshot: Boolean(snapshot), after };
}

const noSearch = { search: 'a subscription cannot search' };

const hasMember = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name);

/** An unreadable subscription's id, which shows the client which one is refused. */
const idOf = (value: unknown, number: number): string => givenId(value) ?? String(number);

/** The id that a subscription names; undefined if it names none that is valid. */
export function givenId(value: unknown): string | undefined {
  return id.safeParse(typeof value === 'object' && value !== null ? Reflect.get(value, 'id') : undefined).data;
}

function notReadable(error: z.ZodError, value: unknown): AppError {
  const details = describeIssues(error, value);
  const [name, message] = Object.entries(details)[0] ?? ['subscription', 'not valid'];
  return malformed(`${name}: ${message}`, details);
}
