-- How many deliveries one request has at most, and how long the first one waits for others: {max, wait_ms}. Null for one delivery
-- in each request, whose body is no list.
alter table system.webhooks add column batch jsonb;

-- The last request's id, for a delivery that was sent in a batch. Deliveries with the same id are sent together again.
alter table system.delivery_queue add column batch_id uuid;
create index delivery_queue_batch on system.delivery_queue (batch_id) where batch_id is not null;
create index delivery_queue_sent_batches on system.delivery_queue (webhook_id, next_attempt_at) where batch_id is not null;
alter table system.ordered_deliveries add column batch_id uuid;
alter table system.deliveries add column batch_id uuid;
