-- An expression that a webhook's events must fulfil; null for none. It names fields of the events' collections, and follows
-- their renames.
alter table system.webhooks add column filter text;
