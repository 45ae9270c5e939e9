-- The most deliveries to a webhook in a second, over all replicas; null for no limit. `rate_next` is the time of the next
-- delivery that the limit has room for; null before the first.
alter table system.webhooks
  add column rate double precision check (rate between 0.1 and 1000),
  add column rate_next timestamptz;
