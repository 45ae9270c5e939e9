-- The failing_since of the failures about which the webhook's owner has got a mail; null for none.
alter table system.webhooks add column mailed_for timestamptz;
create index webhooks_failing on system.webhooks (failing_since)
  where owner_collection is not null and failing_since is not null;

-- The events that extensions declare, in one row, for the catalogue. The records service writes it.
create table system.custom_events (
  only_row boolean primary key default true check (only_row),
  events jsonb not null
);
