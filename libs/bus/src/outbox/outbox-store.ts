import type { Query } from '@recordbus/database';

/** An event that waits to be published. */
export interface OutboxRow {
  readonly id: number;
  /** Its record's partition. One record's events have one partition. */
  readonly partition: number;
  readonly event_id: string;
  readonly event: string;
  readonly record_key: string | null;
  readonly collection_id: string | null;
  readonly body: string;
  readonly traceparent: string | null;
  /** RFC 3339, UTC, microseconds. */
  readonly occurred_at: string;
  readonly failures: number;
  /** Whether a crash may undo this write: true if there is a collection whose writes do not wait for the disk. */
  readonly may_be_lost: boolean;
}

/** Some outbox partitions. */
export interface Partitions {
  readonly count: number;
  readonly held: readonly number[];
}

/** An event without a record has a partition by its own key. */
const partition = `abs(hashtext(coalesce(record_key, event_id::text)) % $2)`;

/**
 * Lists the oldest events of these partitions that are not on the stream. It uses no cursor, since ids commit out of order.
 */
export function listUnpublished(query: Query, { count, held }: Partitions, limit: number): Promise<OutboxRow[]> {
  const isAll = held.length === count;
  return query<OutboxRow>({
    name: isAll ? 'outbox.unpublished' : 'outbox.unpublished-part',
    text: `select id, ${partition} as partition, event_id, event, record_key, collection_id, body, traceparent, failures,
        (select exists (select from system.collections where durability = 'relaxed')) as may_be_lost,
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at
      from system.outbox where published_at is null and parked_at is null${isAll ? '' : ` and ${partition} = any($3::integer[])`}
      order by id limit $1`,
    values: isAll ? [limit, count] : [limit, count, [...held]],
  });
}

/** Waits until all commits are on disk. A commit that waits for the disk also flushes the commits before it. */
export async function flushCommits(query: Query): Promise<void> {
  await query({ name: 'outbox.flush', text: `select pg_logical_emit_message(true, 'recordbus', '')`, values: [] });
}

/** Marks events as published, with their sequence numbers on the stream. */
export async function markPublished(query: Query, ids: number[], sequences: number[]): Promise<void> {
  await query({
    name: 'outbox.published',
    text: `update system.outbox o set published_at = now(), stream_sequence = done.sequence, error = null
      from unnest($1::bigint[], $2::bigint[]) as done (id, sequence) where o.id = done.id`,
    values: [ids, sequences],
  });
}

/** Counts a failure that the event itself caused; parks it after `limit` failures. Returns whether it is parked. */
export async function noteFailure(query: Query, id: number, error: string, limit: number): Promise<boolean> {
  const rows = await query<{ parked: boolean }>({
    text: `update system.outbox set failures = failures + 1, error = $2,
        parked_at = case when failures + 1 >= $3 then now() end
      where id = $1 returning parked_at is not null as parked`,
    values: [id, error, limit],
  });
  return rows[0]?.parked ?? false;
}

/** Returns the highest sequence number that a published event has; 0 without one. */
export async function lastPublished(query: Query): Promise<number> {
  const [row] = await query<{ sequence: number }>({
    text: 'select coalesce(max(stream_sequence), 0) as sequence from system.outbox where published_at is not null',
    values: [],
  });
  return row?.sequence ?? 0;
}

/**
 * Marks published events above `lastSequence` as unpublished: the stream was wiped, or restored from an older copy.
 * Emptied ones are not published again. Returns their number.
 */
export async function republishAfter(query: Query, lastSequence: number): Promise<number> {
  const rows = await query({
    text: `update system.outbox set published_at = null, stream_sequence = null
      where published_at is not null and stream_sequence > $1 and body <> '' returning 1`,
    values: [lastSequence],
  });
  return rows.length;
}

/** Deletes up to `limit` events that were published more than `graceSec` ago. Returns their number. */
export async function removePublished(query: Query, graceSec: number, limit: number): Promise<number> {
  const rows = await query({
    text: `delete from system.outbox where id = any(array(
        select id from system.outbox where published_at < now() - make_interval(secs => $1)
        order by published_at limit $2
      )) returning 1`,
    values: [graceSec, limit],
  });
  return rows.length;
}

/** Stores a large event's envelope for consumers, for as long as the stream keeps the reference to it. */
export async function keepLargeEvent(query: Query, { event_id, body }: OutboxRow): Promise<void> {
  await query({
    text: 'insert into system.large_events (id, body) values ($1, $2) on conflict (id) do nothing',
    values: [event_id, body],
  });
}

/** Deletes large events whose references the stream no longer keeps. */
export async function removeLargeEvents(query: Query, ageSec: number): Promise<void> {
  await query({
    text: 'delete from system.large_events where created_at < now() - make_interval(secs => $1)',
    values: [ageSec],
  });
}
