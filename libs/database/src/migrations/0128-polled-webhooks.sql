-- Webhooks whose events are read with a key instead of sent. `polled` is the last position in system.polled_deliveries.
alter table system.webhooks
  add column type text not null default 'http' check (type in ('http', 'poll')),
  add column key_hash bytea,
  add column polled bigint not null default 0;

-- The deliveries of such webhooks that were handed out, in the order in which readers get them. Until then they wait in
-- system.delivery_queue.
create table system.polled_deliveries (
  webhook_id text collate "C" not null references system.webhooks on delete cascade,
  position bigint not null,
  delivery_id uuid not null,
  occurred_at timestamptz not null,
  primary key (webhook_id, position)
);
create index polled_deliveries_day on system.polled_deliveries (occurred_at);
