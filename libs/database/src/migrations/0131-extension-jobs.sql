-- Work that extensions' code leaves for later, one row for each job. Their tools add rows in the transaction of the write
-- that causes the work; the workers of the records service run them.
create table system.extension_jobs (
  id uuid primary key,
  extension text collate "C" not null,
  name text collate "C" not null,
  -- As the code gave it. JSON text, since jsonb refuses U+0000.
  input json not null,
  key text collate "C",
  priority smallint not null default 0,
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'dead', 'cancelled')),
  due_at timestamptz not null default clock_timestamp(),
  -- Whether a claim has seen that the job is due. Claims read due rows by priority, however many wait for their time.
  is_due boolean not null default false,
  -- Attempts that threw or took too long.
  failures integer not null default 0,
  -- Attempts whose process ended.
  losses integer not null default 0,
  -- From 0 to 100, with a sentence.
  progress real,
  progress_message text,
  -- The last attempt's error.
  error text,
  lease_until timestamptz,
  lease_token uuid,
  -- The request that caused the job.
  request_id text,
  traceparent text,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz
);
create index extension_jobs_due on system.extension_jobs (extension, name, priority desc, due_at, id)
  where state = 'pending' and is_due;
create index extension_jobs_later on system.extension_jobs (due_at, extension) where state = 'pending' and not is_due;
create index extension_jobs_running on system.extension_jobs (extension, name) where state = 'running';
create unique index extension_jobs_key on system.extension_jobs (extension, key, name)
  where state = 'pending' and key is not null;
create index extension_jobs_dead on system.extension_jobs (id) where state = 'dead';
create index extension_jobs_ended on system.extension_jobs (finished_at) where finished_at is not null;
