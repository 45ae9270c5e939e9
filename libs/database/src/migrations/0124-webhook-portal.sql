-- Links to an owner's webhooks, each for one use, and the session that its use opens. Both are stored as hashes.
create table system.portal_links (
  link_hash bytea primary key,
  owner_collection text collate "C" not null references system.collections on delete cascade,
  owner_id text collate "C" not null,
  theme jsonb not null,
  expires_at timestamptz not null,
  session_seconds integer not null,
  -- Null until the link is used.
  session_hash bytea unique,
  session_expires_at timestamptz
);
create index portal_links_end on system.portal_links ((coalesce(session_expires_at, expires_at)));
