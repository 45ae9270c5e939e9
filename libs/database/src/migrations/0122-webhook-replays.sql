-- Requests to send a webhook the events that were never made for it. The admin service adds a row, waits for `count` or `error`,
-- and removes the row. A replica of the webhooks service that takes it reads the stream.
create table system.webhook_replays (
  id uuid primary key default system.new_id(),
  webhook_id text collate "C" not null references system.webhooks on delete cascade,
  since timestamptz not null,
  until timestamptz not null,
  is_dry_run boolean not null,
  requested_at timestamptz not null default now(),
  taken_at timestamptz,
  count integer,
  error text
);
