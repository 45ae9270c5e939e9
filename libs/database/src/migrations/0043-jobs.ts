/** Creates jobs, and the rows of a job's body that need another pass. */
export const statements: readonly string[] = [
  // `position` and `last_row` are the progress of the current pass. They commit together with its writes. `fence` grows
  // with each replica that takes the job.
  `create table system.jobs (
    id uuid primary key,
    kind text not null check (kind in ('import')),
    state text not null default 'queued'
      check (state in ('queued', 'running', 'paused', 'done', 'failed', 'cancelled')),
    collection_id text collate "C" not null,
    collection_name text not null,
    actor jsonb not null,
    request jsonb not null,
    options jsonb not null,
    body_id uuid not null,
    body_bytes bigint not null,
    pass integer not null default 1,
    position bigint not null default 0,
    last_row bigint not null default 0,
    rows_total bigint not null,
    rows_read bigint not null default 0,
    rows_done bigint not null default 0,
    rows_skipped bigint not null default 0,
    rows_refused bigint not null default 0,
    rows_waiting bigint not null default 0,
    pass_began_waiting bigint not null default 0,
    error jsonb,
    failures integer not null default 0,
    fence bigint not null default 0,
    lease_until timestamptz,
    active_ms bigint not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    started_at timestamptz,
    finished_at timestamptz
  )`,
  `create index jobs_unfinished on system.jobs (created_at, id) where state in ('queued', 'running')`,
  'create index jobs_newest on system.jobs (created_at desc, id desc)',
  'create index jobs_finished on system.jobs (finished_at) where finished_at is not null',
  'create index jobs_body on system.jobs (body_id)',

  // `waiting`: not written because a target is missing; `incomplete`: written without the fields in `details`.
  `create table system.job_rows (
    job_id uuid not null references system.jobs on delete cascade,
    row bigint not null,
    state text not null check (state in ('refused', 'waiting', 'incomplete')),
    record_id text collate "C",
    details jsonb not null,
    primary key (job_id, row)
  )`,
  `create index job_rows_unfinished on system.job_rows (job_id, record_id) where state <> 'refused'`,
];
