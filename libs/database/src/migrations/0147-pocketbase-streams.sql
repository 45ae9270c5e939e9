-- Realtime streams of PocketBase's clients, so that a client that comes back gets what it missed. The gateways add a
-- row when a stream follows something, and remove it some time after the stream has ended.
create table system.pocketbase_streams (
  -- A hash of the client's id.
  id text collate "C" primary key,
  -- The gateway that has the stream.
  gateway text collate "C" not null,
  -- Hashes of whom the stream is for and of the client's address.
  caller text collate "C" not null,
  address text collate "C" not null,
  -- Where each topic is continued: cursors by hashes of the topics.
  cursors jsonb not null,
  -- The schema's version at all these cursors: what came under other rules is not sent again.
  schema_version bigint not null,
  is_open boolean not null,
  -- The end of a stream, otherwise when its gateway last said that it is open.
  seen_at timestamptz not null
);
create index pocketbase_streams_caller on system.pocketbase_streams (caller);
create index pocketbase_streams_seen on system.pocketbase_streams (seen_at);
