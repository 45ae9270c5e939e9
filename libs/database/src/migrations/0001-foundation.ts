/** Creates collections, admins, settings, and the outbox of events. */
export const statements: readonly string[] = [
  'create schema records',
  `create table system.collections (
    id text collate "C" primary key,
    name text not null,
    type text not null check (type in ('base', 'auth', 'view')),
    fields jsonb not null,
    view_query text,
    list_rule text, view_rule text, create_rule text, update_rule text, delete_rule text,
    history_enabled boolean not null default false,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  'create unique index collections_name on system.collections (lower(name))',

  // Counters by which replicas learn that their copy of the collections or the settings is outdated.
  'create table system.versions (name text primary key, version bigint not null)',
  "insert into system.versions values ('schema', 1), ('settings', 1)",

  `create table system.admins (
    id text collate "C" primary key,
    email text not null,
    password_hash text not null,
    token_version integer not null default 0,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  'create unique index admins_email on system.admins (lower(email))',

  'create table system.instance (key text primary key, value text not null)',
  'create table system.settings (key text primary key, value text not null, updated_at bigint not null)',

  // An event is a row written by the statement that writes the record. Rows of one record (same record_key) get their
  // ids in commit order, because its row lock is taken before the identity is drawn. A published row stays for a while
  // with its place in the stream, so that a stream that lost it can be given it again; a row that can't be published
  // whatever the bus does is parked with its error.
  `create table system.outbox (
    id bigint generated always as identity primary key,
    event_id uuid not null,
    event text not null,
    record_key text,
    body text not null,
    traceparent text,
    created_at timestamptz not null default now(),
    published_at timestamptz,
    stream_sequence bigint,
    failures smallint not null default 0,
    error text,
    parked_at timestamptz
  ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`,
  'create index outbox_pending on system.outbox (id) where published_at is null and parked_at is null',
  'create index outbox_published on system.outbox (published_at) where published_at is not null',

  // Work that one replica does for all: the holder renews its lease, and a holder that stops renewing is replaced.
  `create table system.leases (
    name text primary key,
    holder text not null,
    expires_at timestamptz not null
  )`,
];
