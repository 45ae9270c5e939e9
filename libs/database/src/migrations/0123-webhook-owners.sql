-- Which records' events go to webhooks with an owner; null for none.
alter table system.collections add column webhook_rule text;

-- The record that owns the webhook; null for an admin's webhook. It is deleted with its owner's collection.
alter table system.webhooks
  add column owner_collection text collate "C" references system.collections on delete cascade,
  add column owner_id text collate "C";
create index webhooks_owner on system.webhooks (owner_collection, owner_id) where owner_collection is not null;

-- What an owner's webhook gets: the body without what its owner may not see, and the collection whose `webhook_rule` is
-- checked again before each attempt. Null for an admin's webhook, which gets the event's body.
alter table system.deliveries
  add column body text,
  add column collection_id text collate "C";
