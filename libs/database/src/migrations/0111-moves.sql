-- Moves from another product's backup. Their archives are in the archive store. The records service writes them.
create table system.moves (
  id uuid primary key,
  state text not null default 'uploading'
    check (state in ('uploading', 'planning', 'planned', 'running', 'done', 'failed', 'cancelled')),
  actor jsonb not null,
  options jsonb not null,
  bytes bigint not null default 0,
  -- Whether the archive may still be in the store.
  has_archive boolean not null default true,
  -- Whether something may have been written into collections.
  has_begun boolean not null default false,
  progress jsonb,
  plan jsonb,
  report jsonb,
  error text,
  -- The service key of the process that works on it.
  key_id text,
  failures integer not null default 0,
  -- Grows with each replica that takes the move.
  fence bigint not null default 0,
  lease_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  planned_at timestamptz,
  finished_at timestamptz
);
create unique index moves_one on system.moves ((true)) where state in ('uploading', 'planning', 'planned', 'running');
create index moves_newest on system.moves (created_at desc, id desc);
