-- An account's exports of its own data.
create index data_jobs_exports on system.data_jobs (collection_id, record_id) where kind = 'export';
