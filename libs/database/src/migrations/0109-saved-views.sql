-- The lists that admins saved for a collection's records. A view without an owner is shared by all admins.
create table system.saved_views (
  id text collate "C" primary key,
  collection_id text collate "C" not null references system.collections (id) on delete cascade,
  owner_id text collate "C" references system.admins (id) on delete cascade,
  name text not null,
  filter text not null,
  sort text not null,
  columns text[] not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index saved_views_collection on system.saved_views (collection_id);
