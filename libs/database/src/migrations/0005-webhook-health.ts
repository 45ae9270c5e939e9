/** Adds the health of receivers, secrets that are being replaced, and the drop of days of the log. */
export const statements: readonly string[] = [
  // `failures` counts recorded attempts since the last success, `failing_since` is the first of them. A webhook with
  // `paused_until` gets no attempt before that time, and then one at a time until one succeeds.
  `alter table system.webhooks
    add column previous_secret text,
    add column previous_secret_until timestamptz,
    add column failures integer not null default 0,
    add column failing_since timestamptz,
    add column paused_until timestamptz`,

  // Drops the partitions of a day (UTC) and its pending deliveries. Returns whether it did. It waits for current readers
  // and writers of the log only shortly, since all later ones would wait behind it.
  `create function system.drop_event_day(day date) returns boolean language plpgsql set lock_timeout to '2s' as $$
    declare
      parent text;
    begin
      if not pg_try_advisory_xact_lock(hashtext('recordbus.event_days')) then
        return false;
      end if;
      delete from system.delivery_queue
      where occurred_at >= day::timestamp at time zone 'UTC' and occurred_at < (day + 1)::timestamp at time zone 'UTC';
      foreach parent in array array['deliveries', 'delivery_attempts', 'events'] loop
        execute format('drop table if exists system.%I', format('%s_%s', parent, to_char(day, 'YYYYMMDD')));
      end loop;
      return true;
    end
  $$`,

  // Work of the product itself has no request and no caller.
  'alter table system.audit drop constraint audit_actor_type_check, drop constraint audit_check',
  `alter table system.audit
    add constraint audit_actor_type check (actor_type in ('user', 'admin', 'guest', 'system')),
    add constraint audit_actor check ((actor_type in ('guest', 'system')) = (actor_id is null))`,
];
