-- Erasures and exports of a person's data, one row each, as jobs. They have a table of their own: the previous version would
-- take them from system.jobs as imports. The records service writes them. An erasure that was asked for stays, since a
-- restore repeats it.
create table system.data_jobs (
  id uuid primary key,
  kind text not null check (kind in ('erase', 'export')),
  -- Whether an admin asked, an account deleted itself, a collection keeps its records for some days only, or a restore
  -- repeats earlier erasures.
  cause text not null check (cause in ('request', 'account', 'retain', 'restore')),
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  collection_id text collate "C" not null,
  collection_name text not null,
  -- Null for a restore's, which has many.
  record_id text collate "C",
  actor jsonb not null,
  request jsonb not null,
  options jsonb not null,
  -- How far it is: a step's name, and the position in the step.
  step text not null default '',
  position text not null default '',
  -- What the steps have counted so far, and what later steps need. Emptied at the end.
  progress jsonb not null default '{}',
  -- An ended job's outcome: an erasure's certificate, or an export's archive.
  result jsonb,
  error jsonb,
  failures integer not null default 0,
  -- Grows with each replica that takes the job.
  fence bigint not null default 0,
  lease_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz
);
create index data_jobs_unfinished on system.data_jobs (created_at, id) where state in ('queued', 'running');
create index data_jobs_newest on system.data_jobs (created_at desc, id desc);
create index data_jobs_finished on system.data_jobs (finished_at) where finished_at is not null;

-- The records that erasures erase, cascades included. Readers of the stream skip their events up to `erased_at`.
create table system.erased_records (
  job_id uuid not null references system.data_jobs on delete cascade,
  collection_id text collate "C" not null,
  record_id text collate "C" not null,
  -- Null until the record is gone. In whole milliseconds.
  erased_at timestamptz,
  -- Whether the stream may still have messages about it.
  has_messages boolean not null default true,
  primary key (job_id, collection_id, record_id)
);
create index erased_records_record on system.erased_records (record_id, collection_id);
create index erased_records_newest on system.erased_records (erased_at) where erased_at is not null and has_messages;
