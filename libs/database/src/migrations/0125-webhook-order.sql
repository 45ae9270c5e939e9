-- Whose deliveries follow one another: none, one record's, or all of the webhook's. And what a dead delivery does to those behind
-- it.
alter table system.webhooks
  add column ordering text not null default 'none' check (ordering in ('none', 'record', 'all')),
  add column on_failure text not null default 'block' check (on_failure in ('block', 'skip'));

-- The event's place in the stream: the stream's life, and the number in it. Null for deliveries that were made without order.
alter table system.deliveries
  add column stream_life bigint,
  add column stream_sequence bigint;

-- A lane has the deliveries of one webhook that follow one another: those of one record, or all. The delivery workers lease
-- lanes, so at most one delivery of a lane is in progress. Its first delivery is the next one. A lane without deliveries is removed.
create table system.delivery_lanes (
  id uuid primary key default gen_random_uuid(),
  webhook_id text collate "C" not null references system.webhooks on delete cascade,
  -- The record's id, or the event's if it has no record; empty for all of the webhook's.
  key text collate "C" not null,
  -- Grows when deliveries are added, so that no lane is removed that has just got one.
  additions bigint not null default 0,
  -- Infinity while a dead delivery blocks the lane.
  next_attempt_at timestamptz not null default now(),
  lease_until timestamptz,
  lease_token uuid,
  lost_leases integer not null default 0,
  -- The dead delivery that blocks the lane, which is still its first one.
  blocked_by uuid,
  blocked_at timestamptz,
  unique (webhook_id, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index delivery_lanes_due on system.delivery_lanes (webhook_id, next_attempt_at);
create index delivery_lanes_blocked on system.delivery_lanes (webhook_id, blocked_at) where blocked_by is not null;

-- One row for each delivery in a lane, in the stream's order. Its outcome removes it, unless it blocks the lane.
create table system.ordered_deliveries (
  delivery_id uuid primary key,
  occurred_at timestamptz not null,
  event_id uuid not null,
  webhook_id text collate "C" not null,
  lane_id uuid not null references system.delivery_lanes on delete cascade,
  stream_life bigint not null,
  stream_sequence bigint not null,
  attempt integer not null default 0
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index ordered_deliveries_next on system.ordered_deliveries (lane_id, stream_life, stream_sequence, delivery_id);
create index ordered_deliveries_webhook on system.ordered_deliveries (webhook_id);

-- Puts a delivery into its lane, which it makes if there is none. A caller with several passes them sorted by webhook and record,
-- so that two callers do not wait for each other. The webhook is locked first, as its deletion does.
create function system.put_in_lane(
  delivery_id uuid, occurred_at timestamptz, event_id uuid, webhook_id text, record_id text, stream_life bigint,
  stream_sequence bigint
) returns void language sql volatile as $$
  with hook as materialized (
    select w.id, case w.ordering when 'all' then '' else coalesce(put_in_lane.record_id, put_in_lane.event_id::text) end as key
    from system.webhooks w where w.id = put_in_lane.webhook_id for key share
  ), lane as (
    insert into system.delivery_lanes as l (webhook_id, key) select id, key from hook
    on conflict (webhook_id, key) do update set additions = l.additions + 1 returning l.id
  )
  insert into system.ordered_deliveries
    (delivery_id, occurred_at, event_id, webhook_id, lane_id, stream_life, stream_sequence)
  select put_in_lane.delivery_id, put_in_lane.occurred_at, put_in_lane.event_id, put_in_lane.webhook_id, lane.id,
    put_in_lane.stream_life, put_in_lane.stream_sequence
  from lane
$$;
