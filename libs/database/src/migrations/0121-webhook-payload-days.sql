-- How many days after its delivery a webhook's log keeps a payload; null for as long as the delivery. `payloads_until` is the
-- time up to which the payloads of deliveries that have ended are dropped; null for none.
alter table system.webhooks
  add column payload_days integer check (payload_days between 0 and 30),
  add column payloads_until timestamptz;
