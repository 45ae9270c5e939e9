/** Creates crons of extensions and their runs. */
export const statements: readonly string[] = [
  // `last_tick` is the last tick that a replica handled; before the first, the time when the cron first appeared.
  `create table system.crons (
    name text collate "C" primary key,
    last_tick timestamptz not null
  )`,
  // One row for each tick, whatever the number of replicas; runs by hand have none.
  `create table system.cron_runs (
    id uuid primary key default system.new_id(),
    cron text collate "C" not null,
    tick timestamptz,
    cause text not null check (cause in ('schedule', 'missed', 'manual')),
    status text not null check (status in ('running', 'success', 'failed', 'skipped')),
    error text,
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    lease_until timestamptz,
    unique (cron, tick)
  )`,
  'create index cron_runs_newest on system.cron_runs (cron, started_at desc)',
  'create index cron_runs_age on system.cron_runs (started_at)',
];
