/** Creates the list of the backups that were made through the API. Their archives are in the store. */
export const statements: readonly string[] = [
  `create table system.backups (
    id uuid primary key,
    state text not null default 'running' check (state in ('running', 'done', 'failed')),
    file text not null,
    actor jsonb not null,
    tables integer not null default 0,
    rows bigint not null default 0,
    files bigint not null default 0,
    missing_files bigint not null default 0,
    bytes bigint not null default 0,
    error text,
    created_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz
  )`,
  'create index backups_newest on system.backups (created_at desc, id desc)',
];
