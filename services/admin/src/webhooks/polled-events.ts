import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';
import { unauthenticated } from '@recordbus/errors';
import { boundedNumber } from '@recordbus/http';
import { boundedText } from '@recordbus/text/bounded-text';
import { type OwnersDeps, recheck, type WaitingDelivery } from '@recordbus/webhook-owners';
import { z } from 'zod';

/** The header with the key of a webhook whose events are read (webhooks §11). */
export const keyHeader = 'x-webhook-key';

/** A page's largest number of characters, unless its first event alone has more. */
const maxPageLength = 4 * 1024 * 1024;

const lastPosition = 2n ** 63n - 1n;

/** A page's place and size. */
export const polledQuery = z.object({
  after: boundedText(19)
    .refine((text) => /^\d*$/.test(text) && BigInt(text) <= lastPosition, "must be a page's `next`")
    .transform((text) => text || '0')
    .default('0')
    .describe("a page's `next`; without it, from the beginning"),
  limit: boundedNumber({ min: 1, max: 100, otherwise: 100 }),
});

/** A page of events: the bodies that other webhooks are sent. */
export const polledPage = z
  .object({
    data: z.array(z.object({}).loose()),
    next: z.string().describe('`after` for the next page, also when there is no further event yet'),
  })
  .meta({ id: 'PolledEvents' });

/** Returns a new key for reading a webhook's events. */
export const newKey = (): string => `whpk_${randomBytes(32).toString('base64url')}`;

export const hashOfKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** A webhook that the key opens. */
interface Polled {
  readonly id: string;
  readonly ownerCollection: string | null;
  readonly ownerId: string | null;
}

/**
 * Returns the whole answer with the events after a position, as JSON text. Events that wait are handed out: they get
 * positions, and stay readable as long as the log keeps them. Throws 401 for a key that opens no such webhook.
 */
export async function readPolled(
  deps: OwnersDeps,
  given: { readonly id: string; readonly key: string | undefined },
  { after, limit }: z.output<typeof polledQuery>,
): Promise<string> {
  const { query } = deps;
  const polled = await requireKey(query, given);
  const [room] = await query<{ free: number }>({
    name: 'polled.room',
    text: `select $3::integer - count(*)::integer as free from (
        select from system.polled_deliveries where webhook_id = $1 and position > $2::bigint limit $3
      ) as known`,
    values: [polled.id, after, limit],
  });
  if (room && room.free > 0) await placeWaiting(deps, polled, room.free);
  return readPage(query, polled.id, after, limit);
}

async function requireKey(
  query: Query,
  { id, key }: { readonly id: string; readonly key: string | undefined },
): Promise<Polled> {
  const [polled] = await query<Polled>({
    name: 'polled.webhook',
    text: `select id, owner_collection as "ownerCollection", owner_id as "ownerId" from system.webhooks
      where id = $1 and type = 'poll' and key_hash = $2`,
    values: [id, hashOfKey(key ?? '')],
  });
  if (!polled) throw unauthenticated('the key opens no such webhook');
  return polled;
}

interface Waiting {
  readonly id: string;
  readonly event: string | null;
  readonly body: string | null;
  readonly madeEvent: string;
  readonly madeBody: string | null;
  readonly collectionId: string | null;
}

/**
 * Hands out up to `limit` events that wait, in the order in which they happened. The events of an owner's webhook are
 * checked again by the rules of now (webhooks §9.4); those that they no longer admit are deleted.
 */
async function placeWaiting(deps: OwnersDeps, polled: Polled, limit: number): Promise<void> {
  const { query } = deps;
  const { id, ownerCollection, ownerId } = polled;
  const waiting = await query<Waiting>({
    name: 'polled.waiting',
    text: `select q.delivery_id as id, e.event, nullif(e.body, 'null') as body, d.event as "madeEvent", d.body as "madeBody",
        d.collection_id as "collectionId"
      from (
        select q.delivery_id, q.occurred_at, q.event_id from system.delivery_queue q
        join system.webhooks w on w.id = q.webhook_id and w.enabled
        where q.webhook_id = $1 order by q.delivery_id limit $2
      ) as q
      join system.deliveries d on d.id = q.delivery_id and d.occurred_at = q.occurred_at
      left join system.events e on e.id = q.event_id and e.occurred_at = q.occurred_at`,
    values: [id, limit],
  });
  if (waiting.length === 0) return;
  const admitted =
    ownerCollection === null
      ? undefined
      : await recheck(
          deps,
          waiting.map((one) => toWaiting(one, { ownerCollection, ownerId: ownerId ?? '' })),
        );
  const isAdmitted = ({ id: delivery }: Waiting) => admitted === undefined || admitted.has(delivery);
  const bodyOf = ({ id: delivery, collectionId }: Waiting) =>
    collectionId === null ? null : (admitted?.get(delivery)?.body ?? null);
  await query({
    name: 'polled.place',
    text: placeSql,
    values: [id, waiting.map((one) => one.id), waiting.map(isAdmitted), waiting.map(bodyOf)],
  });
}

const toWaiting = (
  { id, event, body, madeEvent, madeBody, collectionId }: Waiting,
  owner: Pick<WaitingDelivery, 'ownerCollection' | 'ownerId'>,
): WaitingDelivery => ({
  id,
  ...owner,
  url: '',
  event: event ?? madeEvent,
  body,
  made: { event: madeEvent, body: madeBody, collectionId },
});

/** One reader at a time gives positions; meanwhile another one gets only what has some. */
const placeSql = `with held as materialized (
    select id, polled from system.webhooks where id = $1 for no key update skip locked
  ), taken as (
    delete from system.delivery_queue q
    using held, unnest($2::uuid[], $3::boolean[], $4::text[]) as given (id, is_admitted, body)
    where q.delivery_id = given.id and q.webhook_id = held.id
    returning q.delivery_id, q.occurred_at, given.is_admitted, given.body
  ), refused as (
    delete from system.deliveries d using taken t
    where not t.is_admitted and d.id = t.delivery_id and d.occurred_at = t.occurred_at
  ), noted as (
    update system.deliveries d
    set status = 'success', body = coalesce(t.body, d.body), updated_at = clock_timestamp(), completed_at = clock_timestamp()
    from taken t where t.is_admitted and d.id = t.delivery_id and d.occurred_at = t.occurred_at
  ), placed as (
    insert into system.polled_deliveries (webhook_id, position, delivery_id, occurred_at)
    select held.id, held.polled + row_number() over (order by t.delivery_id), t.delivery_id, t.occurred_at
    from held, taken t where t.is_admitted
  )
  update system.webhooks w set polled = held.polled + (select count(*) from taken where is_admitted)
  from held where w.id = held.id`;

/** An event whose payload is no longer kept is left out. */
async function readPage(query: Query, id: string, after: string, limit: number): Promise<string> {
  const [row] = await query<{ json: string }>({
    name: 'polled.page',
    text: `with listed as (
        select p.position, coalesce(d.body, e.body) as body from (
          select * from system.polled_deliveries
          where webhook_id = $1 and position > $2::bigint order by position limit $3
        ) as p
        left join system.deliveries d on d.id = p.delivery_id and d.occurred_at = p.occurred_at
        left join system.events e on e.id = d.event_id and e.occurred_at = d.occurred_at
      ), measured as (
        select position, body, sum(length(body)) over (order by position) - length(body) as before from listed
      ), page as (
        select position, body from measured where coalesce(before, 0) < ${maxPageLength}
      )
      select json_build_object(
        'data', coalesce((select json_agg(body::json order by position) from page where body <> 'null'), '[]'),
        'next', coalesce((select max(position) from page), $2::bigint)::text
      )::text as json`,
    values: [id, after, limit],
  });
  return row?.json ?? '';
}
