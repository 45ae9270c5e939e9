import type { Query } from '@recordbus/database';

const dayMs = 24 * 3600 * 1000;

/**
 * Drops log days that are older than `keepDays`, oldest first, and returns them (YYYY-MM-DD). Deliveries that still
 * wait are dropped with their day. Parked messages have the same retention. Throws when a day is in use (55P03).
 */
export async function dropOldDays(query: Query, keepDays: number, nowMs = Date.now()): Promise<string[]> {
  const firstKept = new Date(nowMs - keepDays * dayMs).toISOString().slice(0, 10);
  const old = await query<{ day: string }>({
    text: `select distinct to_date(right(relname, 8), 'YYYYMMDD')::text as day
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent in ('system.events'::regclass, 'system.deliveries'::regclass, 'system.delivery_attempts'::regclass)
        and right(relname, 8) < to_char($1::date, 'YYYYMMDD')
      order by day`,
    values: [firstKept],
  });
  const dropped: string[] = [];
  for (const { day } of old) {
    const [row] = await query<{ done: boolean }>({
      text: 'select system.drop_event_day($1::date) as done',
      values: [day],
    });
    if (!row?.done) continue;
    await query({
      text: `delete from system.ordered_deliveries where occurred_at < ($1::date + 1)::timestamp at time zone 'UTC'`,
      values: [day],
    });
    dropped.push(day);
  }
  await query({ text: 'delete from system.polled_deliveries where occurred_at < $1::date', values: [firstKept] });
  await query({ text: 'delete from system.parked_messages where parked_at < $1::date', values: [firstKept] });
  return dropped;
}
