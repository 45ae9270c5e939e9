-- Which transaction listed a record as erased, so that readers of the stream read each row once, and no row of a longer
-- transaction is missed.
alter table system.erased_records add column transaction_id xid8 not null default pg_current_xact_id();
create index erased_records_listed on system.erased_records (transaction_id, job_id, collection_id, record_id)
  where erased_at is not null and has_messages;
