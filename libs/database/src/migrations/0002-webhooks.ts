/** Creates webhooks, the events that they matched, their deliveries and the log of attempts. */
export const statements: readonly string[] = [
  // `active` has the spans of time in which the webhook listens. An event is sent to webhooks that listened when it
  // happened, however late it is processed. A webhook is enabled when its last span has no end.
  `create table system.webhooks (
    id text collate "C" primary key,
    name text not null,
    url text not null,
    events text[] not null,
    secret text not null,
    headers jsonb not null default '{}',
    active tstzmultirange not null default tstzmultirange(tstzrange(now(), null)),
    enabled boolean not null generated always as (upper_inf(active)) stored,
    retry_max integer not null,
    retry_backoff text not null check (retry_backoff in ('exponential', 'fixed')),
    retry_delay_ms integer not null,
    timeout_ms integer not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,

  // The log of events, deliveries and attempts is partitioned by the day of the event, so that old rows are removed by
  // dropping a day. Every unique key includes occurred_at, which costs nothing: the time of an event never changes, and
  // the id of a delivery is a hash of event, webhook and time (system.delivery_id).
  `create table system.events (
    id uuid not null,
    occurred_at timestamptz not null,
    event text not null,
    body text not null,
    traceparent text,
    primary key (id, occurred_at)
  ) partition by range (occurred_at)`,
  `create table system.deliveries (
    id uuid not null,
    occurred_at timestamptz not null,
    event_id uuid not null,
    webhook_id text collate "C" not null references system.webhooks on delete cascade,
    event text not null,
    status text not null check (status in ('pending', 'success', 'dead')),
    attempt integer not null default 0,
    response_code integer,
    response_body text,
    error text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    completed_at timestamptz,
    primary key (id, occurred_at)
  ) partition by range (occurred_at)`,
  'create index deliveries_newest on system.deliveries (webhook_id, created_at desc, id desc)',
  `create table system.delivery_attempts (
    delivery_id uuid not null,
    occurred_at timestamptz not null,
    attempt integer not null,
    at timestamptz not null,
    response_code integer,
    duration_ms integer not null,
    error text,
    primary key (delivery_id, occurred_at, attempt)
  ) partition by range (occurred_at)`,

  // One row for each pending delivery. The table stays small, so claiming is cheap however large the log is. A claim
  // changes no indexed column.
  `create table system.delivery_queue (
    delivery_id uuid primary key,
    occurred_at timestamptz not null,
    event_id uuid not null,
    webhook_id text collate "C" not null references system.webhooks on delete cascade,
    attempt integer not null default 0,
    next_attempt_at timestamptz not null default now(),
    lease_until timestamptz,
    lease_token uuid,
    lost_leases integer not null default 0
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`,
  'create index delivery_queue_due on system.delivery_queue (webhook_id, next_attempt_at)',

  // Envelopes larger than a message of the bus, kept as long as the stream keeps the references to them.
  `create table system.large_events (
    id uuid primary key,
    body text not null,
    created_at timestamptz not null default now()
  )`,
  // Messages of the stream that are no events, kept for inspection.
  `create table system.parked_messages (
    id bigint generated always as identity primary key,
    stream_sequence bigint not null,
    subject text not null,
    body bytea not null,
    error text not null,
    parked_at timestamptz not null default now()
  )`,

  // An event has the same delivery id for a webhook on every replica, so processing it twice is harmless (a UUIDv7 whose
  // random bits are a hash).
  `create function system.delivery_id(event_id uuid, webhook_id text, occurred_at timestamptz) returns uuid
    language sql immutable parallel safe
    return (
      lpad(to_hex(floor(extract(epoch from occurred_at) * 1000)::bigint), 12, '0')
      || '7' || substr(md5(event_id::text || webhook_id), 1, 3)
      || '8' || substr(md5(event_id::text || webhook_id), 4, 15)
    )::uuid`,
  `create function system.new_id() returns uuid
    language sql volatile parallel safe
    return (
      lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
      || '7' || substr(gen_random_uuid()::text, 16, 3)
      || replace(substr(gen_random_uuid()::text, 20), '-', '')
    )::uuid`,

  // Creates the missing partitions of a day (UTC). Attaching does not lock readers and writers of other days. Creating a
  // partition in place would make them wait for the longest reader.
  `create function system.ensure_event_day(day date) returns void language plpgsql as $$
    declare
      parent text;
      partition text;
    begin
      if to_regclass(format('system.delivery_attempts_%s', to_char(day, 'YYYYMMDD'))) is not null then
        return;
      end if;
      perform pg_advisory_xact_lock(hashtext('recordbus.event_days'));
      foreach parent in array array['events', 'deliveries', 'delivery_attempts'] loop
        partition := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
        if to_regclass('system.' || partition) is null then
          execute format('create table system.%I (like system.%I including defaults including constraints)', partition, parent);
          execute format(
            'alter table system.%I attach partition system.%I for values from (%L) to (%L)',
            parent, partition, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
          );
        end if;
      end loop;
    end
  $$`,
];
