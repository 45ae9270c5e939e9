/** Creates the list of previews, so that they have a limit in any store. */
export const statements: readonly string[] = [
  `create table system.previews (
    collection_id text collate "C" not null,
    record_id text collate "C" not null,
    name text collate "C" not null,
    bytes bigint not null,
    used_at timestamptz not null default now(),
    primary key (collection_id, record_id, name)
  )`,
  'create index previews_use on system.previews (used_at)',
  // Has a row once previews of earlier releases in the store are listed.
  'create table system.previews_counted (at timestamptz not null default now())',
];
