import { cleanedAtOnce, type ErasedPart, erasedAt, namesOneOf, type Place } from './place.ts';

/** What a delivery's log says about a payload that was erased before it was sent. */
const erasedError = 'the record was erased';

/** The emptied payload. Readers know it as one that is no longer kept (webhooks §2.9). */
const dropped = "'null'";

/**
 * SQL: whether an event is one of the part's collection. Its name may have changed since, so a name that no collection has counts
 * too for an id (SQL) that no other collection's record has. `$4` is the collection's name, and `$5` has those ids.
 */
const isOfCollection = (event: string, recordId: string): string => `(split_part(${event}, '.', 1) = $4
            or ${recordId} = any($5::text[])
              and not exists (select from system.collections c where c.name = split_part(${event}, '.', 1)))`;

const valuesOf = ({ jobId, collectionId, collection, ids, ownIds }: ErasedPart): unknown[] => [
  jobId,
  collectionId,
  ids,
  collection?.name ?? '',
  ownIds,
];

/**
 * Stored events and their deliveries, those of polled webhooks included. A delivery that waits is not sent: the receiver
 * learns by the delete event.
 */
const storedEvents: Place = {
  name: 'events',
  async clean(query, part) {
    const [row] = await query<{ events: number; deliveries: number }>({
      text: `with found as materialized (
          select e.id, e.occurred_at from system.events e
          where e.record_id = any($3::text[]) and ${isOfCollection('e.event', 'e.record_id')} and e.occurred_at <= ${erasedAt('e.record_id')}
            and (e.body <> ${dropped} or exists (
              select from system.deliveries d where d.event_id = e.id and d.occurred_at = e.occurred_at and ${isFull}
            ))
          limit ${cleanedAtOnce}
        ), ${emptyFound}
        select (select count(*) from found)::integer as events, (select count(*) from emptied)::integer as deliveries`,
      values: valuesOf(part),
    });
    const { events = 0, deliveries = 0 } = row ?? {};
    return { counts: { events, deliveries }, isLeft: events === cleanedAtOnce };
  },
};

/** Events about an account that belong to no record, such as sign-ins. */
const accountEvents: Place = {
  name: 'account-events',
  isOfAccounts: true,
  async clean(query, part) {
    const [row] = await query<{ events: number; deliveries: number }>({
      text: `with found as materialized (
          select e.id, e.occurred_at from system.events e
          where e.record_id is null and e.body <> ${dropped} and e.occurred_at <= (
              select max(x.erased_at) from system.erased_records x
              where x.job_id = $1 and x.collection_id = $2
            ) and ${namesOneOf('e.body', '$3::text[]')}
          limit ${cleanedAtOnce}
        ), ${emptyFound}
        select (select count(*) from found)::integer as events, (select count(*) from emptied)::integer as deliveries`,
      values: [part.jobId, part.collectionId, part.tellingIds],
    });
    const { events = 0, deliveries = 0 } = row ?? {};
    return { counts: { events, deliveries }, isLeft: events === cleanedAtOnce };
  },
};

/**
 * Events about jobs that named a record: they have the job's key and error. The place `extension-jobs` has emptied the jobs, or an
 * earlier erasure has; others that ended dead have an error.
 */
const jobEvents: Place = {
  name: 'job-events',
  async clean(query) {
    const [row] = await query<{ events: number; deliveries: number }>({
      text: `with jobs as materialized (
          select j.id::text as id, j.created_at from system.extension_jobs j
          where j.state in ('dead', 'cancelled') and j.error is null and j.input::text = '{}'
        ), found as materialized (
          select e.id, e.occurred_at from system.events e
          where e.occurred_at >= (select min(created_at) from jobs) and e.event = 'system.job.dead' and e.body <> ${dropped}
            and (e.body::json #>> '{data,record,id}') in (select id from jobs)
          limit ${cleanedAtOnce}
        ), ${emptyFound}, unpublished as (
          update system.outbox o set body = '', stream_sequence = null, published_at = coalesce(o.published_at, now())
          where o.event = 'system.job.dead' and o.body <> '' and split_part(o.record_key, '/', 2) in (select id from jobs)
        )
        select (select count(*) from found)::integer as events, (select count(*) from emptied)::integer as deliveries`,
      values: [],
    });
    const { events = 0, deliveries = 0 } = row ?? {};
    return { counts: { events, deliveries }, isLeft: events === cleanedAtOnce };
  },
};

/** SQL: whether a delivery `d` still says something about its payload. */
const isFull = `(d.response_body is not null or d.body <> ${dropped} or d.status = 'pending'
                or d.error <> '${erasedError}')`;

/** SQL: empties the events in `found`, and takes their deliveries out of every queue. */
const emptyFound = `bodies as (
          update system.events e set body = ${dropped} from found
          where e.id = found.id and e.occurred_at = found.occurred_at and e.body <> ${dropped}
        ), emptied as (
          update system.deliveries d set body = case when d.body is not null then ${dropped} end, response_body = null,
            error = case when d.status = 'pending' or d.error is not null then '${erasedError}' end,
            completed_at = case when d.status = 'pending' then now() else d.completed_at end,
            status = case when d.status = 'pending' then 'dead' else d.status end
          from found where d.event_id = found.id and d.occurred_at = found.occurred_at
          returning d.id
        ), attempts as (
          update system.delivery_attempts a set error = '${erasedError}' from emptied, found
          where a.delivery_id = emptied.id and a.occurred_at = found.occurred_at and a.error is not null
        ), unqueued as (
          delete from system.delivery_queue q using found where q.event_id = found.id
        ), left_lanes as (
          delete from system.ordered_deliveries o using found where o.event_id = found.id
        ), opened as (
          update system.delivery_lanes l set blocked_by = null, blocked_at = null, next_attempt_at = now()
          from emptied where l.blocked_by = emptied.id
        ), unread as (
          delete from system.polled_deliveries p using emptied where p.delivery_id = emptied.id
        )`;

/**
 * Outbox rows. They stay, since totals are computed from them. One that waits counts as published, and one whose place in the
 * stream is unknown is never published again. The deletes' rows lose what the records were: live readers have judged it.
 */
const outbox: Place = {
  name: 'outbox',
  async clean(query, part) {
    const [row] = await query<{ emptied: number; events: number }>({
      text: `with emptied as (
          update system.outbox o set body = '', sealed = null, stream_sequence = null, error = null,
            published_at = coalesce(o.published_at, now())
          where o.body <> '' and o.collection_id = $2 and split_part(o.record_key, '/', 2) = any($3::text[])
            and o.created_at <= ${erasedAt("split_part(o.record_key, '/', 2)")}
          returning o.event_id, o.created_at
        )
        select count(*)::integer as emptied, (count(*) filter (where not exists (
          select from system.events e where e.id = emptied.event_id and e.occurred_at = emptied.created_at
        )))::integer as events from emptied`,
      values: valuesOf(part).slice(0, 3),
    });
    await query({
      text: `update system.outbox o set sealed = null
        where o.sealed is not null and o.records_added < 0 and o.collection_id = $1 and split_part(o.record_key, '/', 2) = any($2::text[])`,
      values: [part.collectionId, part.ids],
    });
    return { counts: { events: row?.events ?? 0 } };
  },
};

/** An account's events in the outbox that belong to no record. */
const accountOutbox: Place = {
  name: 'account-outbox',
  isOfAccounts: true,
  async clean(query, { tellingIds }) {
    await query({
      text: `update system.outbox set body = '', stream_sequence = null, published_at = coalesce(published_at, now())
        where collection_id is null and body <> '' and ${namesOneOf('body', '$1::text[]')}`,
      values: [tellingIds],
    });
    return {};
  },
};

/** Large events, which the stream only refers to, and messages that were parked. */
const largeEvents: Place = {
  name: 'large-events',
  async clean(query, part) {
    const recordId = "(body::json #>> '{data,record,id}')";
    await query({
      text: `with large as (
          delete from system.large_events l
          where ${recordId} = any($3::text[]) and ${isOfCollection("(body::json ->> 'event')", recordId)}
            and l.created_at <= ${erasedAt(recordId)}
        )
        delete from system.parked_messages m where exists (
          select from unnest($6::text[]) u(id) where position(convert_to('"' || u.id || '"', 'UTF8') in m.body) > 0
        )`,
      values: [...valuesOf(part), part.tellingIds],
    });
    return {};
  },
};

export const eventPlaces: readonly Place[] = [
  storedEvents,
  outbox,
  accountEvents,
  accountOutbox,
  jobEvents,
  largeEvents,
];
