-- How old the sign-in of a user's session may be for writes to the collection, in seconds; null for any age.
alter table system.collections add column fresh_s integer;
