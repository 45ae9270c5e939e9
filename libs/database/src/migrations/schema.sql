-- A new database's tables, by subject. Additions come after this file (CONTRIBUTING.md, "Changing the schema").
--
-- Times are Unix seconds in bigint columns, else timestamptz. Ids that a client sees are text with the collation "C".
-- An account is a row in `system.admins` or in an auth collection's table. `collection_id` has no foreign key where a
-- row outlives its collection for a while, or where a trigger removes it.
--
-- `system` exists before this file runs. It has all tables of the product, but none of its users.

-- A table for each collection, named after it. The admin service creates them; the records and auth services write
-- them.
create schema records;
-- Records' earlier versions: a table for each collection that had its history switched on, by the collection's id.
create schema history;
-- A table for each relation to several records, and for each collection with such relations the trigger function that
-- maintains the links.
create schema links;


-- # Deployment

-- Facts about this deployment that are not settings, such as when its first setup ended. The auth service writes them.
create table system.instance (key text primary key, value text not null);

-- Settings that differ from their default. The admin service writes them; secret values are encrypted.
create table system.settings (key text primary key, value text not null, updated_at bigint not null);

-- Counters by which replicas learn that their copy of the collections or the settings is outdated. Each change of either
-- increases one.
create table system.versions (name text primary key, version bigint not null);
insert into system.versions values ('schema', 1), ('settings', 1);

-- Work that one replica does for all: the holder renews its lease, and a holder that stops renewing is replaced.
create table system.leases (
  name text primary key,
  holder text not null,
  expires_at timestamptz not null
);

-- How the outbox relays divide a stream's room (libs/bus/src/room/room-grants.ts).
create table system.room_grants (
  stream text not null,
  member text not null,
  bytes bigint not null,
  primary key (stream, member)
);

-- The timelines that the primary has had. A read replica that lacks the newest one follows a server that is no longer the
-- primary. The first service that sees a timeline adds it.
create table system.timelines (
  timeline integer primary key,
  seen_at timestamptz not null default clock_timestamp()
);

-- A text encrypted with the first data directory's key, so that no other start makes another key.
create table system.key_check (is_only boolean primary key default true check (is_only), sealed text not null);

-- The gateways' shared rate limit counters. Unlogged: they are lost in a crash, and counting starts again.
create unlogged table system.rate_windows (
  key text collate "C" primary key,
  ends_at_ms bigint not null,
  used bigint not null
);


-- # Collections, admins and service keys

-- The collections. The admin service writes them, and changes their tables in the same transaction.
create table system.collections (
  id text collate "C" primary key,
  name text not null,
  type text not null check (type in ('base', 'auth', 'view')),
  fields jsonb not null,
  view_query text,
  list_rule text, view_rule text, create_rule text, update_rule text, delete_rule text,
  history_enabled boolean not null default false,
  created_at bigint not null,
  updated_at bigint not null,
  -- The columns that a view lacks.
  lacking jsonb not null default '[]',
  -- The indexes that admins defined.
  indexes jsonb not null default '[]',
  -- Whether writes wait for the disk, or only for their commit.
  durability text not null default 'full' check (durability in ('full', 'relaxed'))
);
create unique index collections_name on system.collections (lower(name));
-- In every round the relay checks whether there is such a collection.
create index collections_relaxed on system.collections (id) where durability = 'relaxed';

-- The schema files' data migrations that ran. The admin service adds them.
create table system.schema_migrations (
  name text primary key,
  digest text not null,
  sql text not null,
  applied_at bigint not null default extract(epoch from now())::bigint
);

-- The admins. The admin and auth services write them. Their triggers are below, with those of other accounts.
create table system.admins (
  id text collate "C" primary key,
  email text not null,
  password_hash text not null,
  -- A new version ends every session and every pending link.
  token_version integer not null default 0,
  created_at bigint not null,
  updated_at bigint not null,
  totp_secret text,
  totp_enabled boolean not null default false,
  totp_last_step bigint
);
create unique index admins_email on system.admins (lower(email));

-- The service keys. The admin service writes them, and the gateway notes their use. Scopes name collections by id, so
-- a scope follows renames and ends with its collection.
create table system.service_keys (
  id text collate "C" primary key,
  name text not null,
  hash bytea not null,
  scopes text[] not null,
  expires_at bigint,
  allowed_cidrs text[] not null default '{}',
  rate_label text,
  created_by_type text not null,
  created_by_id text,
  created_at bigint not null default extract(epoch from clock_timestamp())::bigint,
  updated_at bigint not null default extract(epoch from clock_timestamp())::bigint,
  last_used_at bigint,
  last_used_ip text
);


-- # Accounts

-- Users' sessions (with a collection) and admins' (without). The auth service writes them, and the gateway notes their
-- use.
create table system.sessions (
  id text collate "C" primary key,
  collection_id text collate "C",
  account_id text collate "C" not null,
  created_at bigint not null,
  last_used_at bigint not null,
  expires_at bigint not null,
  ip text,
  user_agent text,
  -- The admin or the service key that acts as the user. The session ends with it.
  impersonated_by text collate "C",
  -- When the sign-in that opened the session happened; null without one (opened by a refresh, or by an admin who acts
  -- as the user). Later refreshes do not change it.
  signed_in_at bigint
);
create index sessions_account on system.sessions (account_id);
create index sessions_expiry on system.sessions (expires_at);
create index sessions_impersonator on system.sessions (impersonated_by) where impersonated_by is not null;

-- Links and codes that work once. Only hashes are stored; the auth service uses a token up by deleting its row.
create table system.one_time_tokens (
  token_hash text collate "C" primary key,
  purpose text not null,
  collection_id text collate "C" not null,
  account_id text collate "C" not null,
  data jsonb not null default '{}',
  failures smallint not null default 0,
  created_at bigint not null,
  expires_at bigint not null
);
create index one_time_tokens_account on system.one_time_tokens (account_id, purpose);
create index one_time_tokens_expiry on system.one_time_tokens (expires_at);
-- An account has one valid code: with several, each guess would try all of them.
create unique index one_time_tokens_one_code on system.one_time_tokens (account_id) where purpose = 'otp';

-- Failed sign-ins by address or client; a count is valid until `resets_at`. The auth service counts them.
create table system.failed_logins (
  key text collate "C" primary key,
  failures integer not null,
  resets_at bigint not null
);
create index failed_logins_reset on system.failed_logins (resets_at);

-- The codes for an account whose authenticator app is lost. A set shares its salt, so that one slow digest of a guess is
-- compared with all of them.
create table system.recovery_codes (
  collection_id text collate "C" not null,
  account_id text collate "C" not null,
  digest text not null,
  salt text not null,
  used_at bigint,
  primary key (account_id, digest)
);

-- Links from accounts to identities at OAuth2 providers. The auth service adds them.
create table system.oauth_links (
  collection_id text collate "C" not null,
  provider text not null,
  provider_user_id text collate "C" not null,
  account_id text collate "C" not null,
  created_at bigint not null,
  -- Empty where the issuer is unknown: such a link signs nobody in.
  issuer text collate "C" not null default '',
  subject text collate "C" not null default '',
  primary key (collection_id, provider, provider_user_id)
);
create index oauth_links_account on system.oauth_links (account_id);
create unique index oauth_links_identity on system.oauth_links (collection_id, provider, issuer, subject);

-- PKCE verifiers kept for clients. A used one stays for a while, so that its state is known as used.
create table system.oauth_states (
  collection_id text collate "C" not null,
  state_hash text collate "C" not null,
  provider text not null,
  redirect_uri text not null,
  verifier text not null,
  used_at bigint,
  expires_at bigint not null,
  primary key (collection_id, state_hash)
);
create index oauth_states_expiry on system.oauth_states (expires_at);

-- Accounts whose address was proved once and is not now. These and the verified ones always keep their second factor. A
-- separate table, since a column could have an existing field's name. A trigger writes it.
create table system.once_proved_accounts (
  account_id text collate "C" primary key,
  collection_id text collate "C" not null
);
create index once_proved_accounts_collection on system.once_proved_accounts (collection_id);

-- Changes about which account holders still have to get a mail, in order for each account. Triggers and the auth
-- service add them; the auth service sends the mail and removes the row.
create table system.account_changes (
  id bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  account_id text collate "C" not null,
  kind text not null,
  email text not null,
  data jsonb not null default '{}',
  changed_at bigint not null default extract(epoch from clock_timestamp())::bigint
);
create index account_changes_account on system.account_changes (account_id);

-- Accounts that an admin has blocked. A row outlives its account, so a restored account is still blocked.
create table system.blocked_accounts (
  account_id text collate "C" primary key,
  collection_id text collate "C" not null references system.collections (id) on delete cascade,
  blocked_at bigint not null
);
create index blocked_accounts_collection on system.blocked_accounts (collection_id);

-- The auth collections with hooks, in one row, for services that do not run hooks. The records service writes it.
create table system.hooked_accounts (
  only_row boolean primary key default true check (only_row),
  hooked jsonb not null
);

-- What gateways must look up again: an account's, session's or key's id, or * for everything. Triggers and the auth
-- service add rows. The auth service removes them after ten minutes.
create table system.revocations (
  id bigint generated always as identity primary key,
  subject text not null,
  transaction_id xid8 not null default pg_current_xact_id(),
  revoked_at timestamptz not null default now()
);
create index revocations_transaction on system.revocations (transaction_id);

-- Ends the undo links that are void once the account's address is proved. Changes first, then tokens: a mail that is
-- queued meanwhile has turned its change into a token.
create function system.end_unproved_undos(account text) returns void language plpgsql as $$
  begin
    update system.account_changes set data = data || '{"isUndoableUntilProved": false}'
      where account_id = account and kind = 'email';
    delete from system.one_time_tokens
      where account_id = account and purpose = 'undo_email_change' and data->>'untilProved' = 'true';
  end $$;

-- The trigger after an account's update. A new token version ends every session and every pending link. Only the link
-- that undoes an address change stays: a person who took the account over must not be able to end it.
create function system.account_changed() returns trigger language plpgsql as $$
  declare
    collection text;
  begin
    insert into system.revocations (subject) values (new.id);
    if new.token_version <> old.token_version then
      delete from system.sessions where account_id = new.id;
      delete from system.one_time_tokens where account_id = new.id and purpose <> 'undo_email_change';
      with ended as (delete from system.sessions where impersonated_by = new.id returning id)
        insert into system.revocations (subject) select id from ended;
    end if;
    if tg_table_schema = 'records' then
      select c.id into collection from system.collections c where c.name = tg_table_name;
      if old.verified and not new.verified then
        insert into system.once_proved_accounts (account_id, collection_id) values (new.id, collection)
          on conflict do nothing;
      end if;
      if new.verified and not old.verified then
        perform system.end_unproved_undos(new.id);
      end if;
      if lower(new.email) <> lower(old.email) then
        insert into system.account_changes (collection_id, account_id, kind, email, data) values
          (collection, new.id, 'email', old.email,
            jsonb_build_object('newEmail', new.email, 'isProved', old.verified, 'isUndoable', old.verified,
              'isUndoableUntilProved', not old.verified and not new.verified));
      end if;
      if new.token_version <> old.token_version and new.password_hash <> coalesce(old.password_hash, '') then
        insert into system.account_changes (collection_id, account_id, kind, email, data) values
          (collection, new.id, 'password', old.email, jsonb_build_object('isProved', old.verified));
      end if;
    end if;
    return null;
  end $$;
create trigger account_changed after update on system.admins for each row
  when ((old.token_version, old.email) is distinct from (new.token_version, new.email))
  execute function system.account_changed();

-- The trigger after accounts are deleted.
create function system.accounts_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) select id from gone;
    delete from system.sessions where account_id in (select id from gone);
    delete from system.one_time_tokens where account_id in (select id from gone);
    delete from system.recovery_codes where account_id in (select id from gone);
    delete from system.oauth_links where account_id in (select id from gone);
    delete from system.once_proved_accounts where account_id in (select id from gone);
    with ended as (
        delete from system.sessions where impersonated_by in (select id from gone) returning id
      ) insert into system.revocations (subject) select id from ended;
    return null;
  end $$;
create trigger accounts_deleted after delete on system.admins referencing old table as gone
  for each statement execute function system.accounts_deleted();

-- Tokens name their user's collection, so they end when it is deleted or renamed.
create function system.auth_collection_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) values ('*');
    if tg_op = 'DELETE' then
      delete from system.sessions where collection_id = old.id;
      delete from system.one_time_tokens where collection_id = old.id;
      delete from system.recovery_codes where collection_id = old.id;
      delete from system.oauth_links where collection_id = old.id;
      delete from system.oauth_states where collection_id = old.id;
      delete from system.once_proved_accounts where collection_id = old.id;
      delete from system.account_changes where collection_id = old.id;
    end if;
    return null;
  end $$;
create trigger auth_collection_deleted after delete on system.collections for each row
  when (old.type = 'auth') execute function system.auth_collection_changed();
create trigger auth_collection_renamed after update on system.collections for each row
  when (old.type = 'auth' and old.name <> new.name) execute function system.auth_collection_changed();

-- Each change makes the cached key stale, and so the list with all keys.
create function system.service_key_changed() returns trigger language plpgsql as $$
  declare
    key text := coalesce(new.id, old.id);
  begin
    insert into system.revocations (subject) values (key), ('service_keys');
    if tg_op = 'DELETE' or (tg_op = 'UPDATE' and not new.scopes && array['users:impersonate', 'admin']) then
      with ended as (delete from system.sessions where impersonated_by = key returning id)
        insert into system.revocations (subject) select id from ended;
    end if;
    return null;
  end $$;
create trigger service_key_added after insert or delete on system.service_keys for each row
  execute function system.service_key_changed();
create trigger service_key_changed after update on system.service_keys for each row
  when ((old.hash, old.scopes, old.expires_at, old.allowed_cidrs, old.rate_label)
    is distinct from (new.hash, new.scopes, new.expires_at, new.allowed_cidrs, new.rate_label))
  execute function system.service_key_changed();

-- A rename makes cached keys stale that name the collection; a delete takes it out of their scopes.
create function system.key_collection_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject)
      select subject from system.service_keys k, unnest(array[k.id, 'service_keys']) subject
      where exists (select from unnest(k.scopes) scope where split_part(scope, ':', 2) = old.id);
    if tg_op = 'DELETE' then
      update system.service_keys k set
        scopes = array(select scope from unnest(k.scopes) scope where split_part(scope, ':', 2) <> old.id)
        where exists (select from unnest(k.scopes) scope where split_part(scope, ':', 2) = old.id);
    end if;
    return null;
  end $$;
create trigger key_collection_deleted after delete on system.collections for each row
  execute function system.key_collection_changed();
create trigger key_collection_renamed after update on system.collections for each row
  when (old.name <> new.name) execute function system.key_collection_changed();

-- A provider's token address, as the settings currently have it. It is the issuer of a provider without one.
create function system.token_address(provider text) returns text language sql stable as $$
    select case token_address.provider
      when 'google' then 'https://oauth2.googleapis.com/token'
      when 'github' then 'https://github.com/login/oauth/access_token'
      when 'gitlab' then coalesce((select rtrim(s.value, '/') from system.settings s where s.key = 'oauth2.gitlab.endpoint'),
        'https://gitlab.com') || '/oauth/token'
      when 'facebook' then 'https://graph.facebook.com/oauth/access_token'
      when 'microsoft' then 'https://login.microsoftonline.com/'
        || coalesce((select s.value from system.settings s where s.key = 'oauth2.microsoft.tenant'), 'common')
        || '/oauth2/v2.0/token'
      when 'discord' then 'https://discord.com/api/oauth2/token'
      when 'twitch' then 'https://id.twitch.tv/oauth2/token'
      when 'spotify' then 'https://accounts.spotify.com/api/token'
      when 'linkedin' then 'https://www.linkedin.com/oauth/v2/accessToken'
      when 'slack' then 'https://slack.com/api/openid.connect.token'
      when 'bitbucket' then 'https://bitbucket.org/site/oauth2/access_token'
      when 'notion' then 'https://api.notion.com/v1/oauth/token'
      when 'patreon' then 'https://www.patreon.com/api/oauth2/token'
      when 'apple' then 'https://appleid.apple.com/auth/token'
      when 'twitter' then 'https://api.x.com/2/oauth2/token'
      when 'oidc' then coalesce((select s.value from system.settings s where s.key = 'oauth2.oidc.token_url'), '')
      else '' end
  $$;

-- Completes links whose writers name no issuer, as earlier releases do.
create function system.complete_oauth_link() returns trigger language plpgsql as $$
  begin
    if new.subject = '' then new.subject := new.provider_user_id; end if;
    if new.issuer = '' then new.issuer := system.token_address(new.provider); end if;
    return new;
  end $$;
create trigger complete_oauth_link before insert on system.oauth_links
  for each row execute function system.complete_oauth_link();


-- # Records

-- Versions of just deleted records, so that a new record with the same id repeats no version. The delete's statement
-- adds them. Unlogged: a version from an earlier second needs no row, and after a crash a second has passed.
create unlogged table system.deleted_versions (
  collection_id text collate "C" not null,
  record_id text collate "C" not null,
  updated_at bigint not null,
  revision integer not null,
  primary key (collection_id, record_id)
);

-- Stored answers for idempotency keys. The service that answers writes them. Ids and fingerprints are keyed hashes, so
-- a copy of this table reveals no key. A row without an answer belongs to its token's holder until the lease ends.
create table system.idempotency_keys (
  id bytea primary key,
  token uuid not null,
  lease_until timestamptz not null,
  fingerprint bytea,
  -- An encrypted answer.
  answer bytea,
  expires_at timestamptz not null,
  -- An answer that its write's statement stored. It is not encrypted, since the collection's table holds the same
  -- record unencrypted.
  status smallint,
  etag text,
  json text
) with (fillfactor = 80);
create index idempotency_keys_expired on system.idempotency_keys (expires_at);
-- Only so many bytes are kept for large answers.
create index idempotency_keys_large on system.idempotency_keys (expires_at)
  where octet_length(json) > 16384 or octet_length(answer) > 16384;

-- Adds `_revision` to a collection's tables that lack it: the number of earlier writes in the second `updated_at`, the
-- second part of a record's version.
create function system.keep_versions(collection_id text, table_name text) returns void language plpgsql as $$
  declare
    of_records regclass := to_regclass(format('records.%I', table_name));
    of_history regclass := to_regclass(format('history.%I', collection_id));
    primary_key name;
  begin
    if of_records is not null and not exists (
      select from pg_attribute where attrelid = of_records and attname = '_revision' and not attisdropped
    ) then
      execute format('alter table %s add column _revision integer not null default 0', of_records);
    end if;
    if of_history is not null and not exists (
      select from pg_attribute where attrelid = of_history and attname = '_revision' and not attisdropped
    ) then
      select conname into strict primary_key from pg_constraint where conrelid = of_history and contype = 'p';
      execute format('alter table %s add column _revision integer not null default 0', of_history);
      execute format('alter table %s drop constraint %I, add primary key (record_id, at, _revision)',
        of_history, primary_key);
    end if;
  end $$;
create function system.keep_versions_of_collection() returns trigger language plpgsql as $$
  begin
    perform system.keep_versions(new.id, new.name);
    return null;
  end $$;
create constraint trigger keep_versions after insert or update on system.collections
  deferrable initially deferred for each row when (new.type <> 'view')
  execute function system.keep_versions_of_collection();

-- The trigger on records' tables while a data migration from schema files runs. It completes new rows and gives changed
-- rows their next version.
create function system.migrated_row() returns trigger language plpgsql as $$
  declare
    now_sec constant bigint := floor(extract(epoch from now()))::bigint;
  begin
    if tg_op = 'INSERT' then
      new.id := coalesce(new.id, gen_random_uuid()::text);
      if new.id !~ '^[A-Za-z0-9_-]{1,64}$' then
        raise exception 'the id "%" is not a valid id', left(new.id, 100) using errcode = 'check_violation';
      end if;
      new.created_at := coalesce(new.created_at, now_sec);
      new.updated_at := coalesce(new.updated_at, now_sec);
      return new;
    end if;
    if new.id is distinct from old.id then
      raise exception 'ids never change' using errcode = 'check_violation';
    end if;
    if new is distinct from old then
      new.updated_at := greatest(now_sec, old.updated_at);
      new._revision := case when old.updated_at < now_sec then 0 else old._revision + 1 end;
    end if;
    return new;
  end $$;

-- Reads earlier versions of records with some ids. It takes each id's turn, in one order, and then runs the query with
-- the ids. A statement sees the tables as they were when it began; a query in a volatile function sees what was
-- committed while the function waited.
create function system.last_versions(turn text, query text, ids text[])
  returns table (id text, updated_at bigint, _revision integer, is_there boolean) language plpgsql volatile as $$
  begin
    perform pg_advisory_xact_lock(hashtextextended(turn || i.id, 0))
      from (select u.id from unnest(ids) u(id) order by u.id collate "C") i;
    return query execute query using ids;
  end
$$;

-- Finds a missing target among those that a write adds to a list. It reads each id by the primary key and stops at the first
-- that is missing.
create function links.lacks_target(links text, key text, owner text, list jsonb, previous jsonb)
  returns boolean language plpgsql stable as $$
  declare
    targets regclass;
    is_missing boolean;
  begin
    select confrelid into strict targets from pg_constraint where conrelid = links::regclass and conname = key;
    -- The name is of now, so the function needs no change after a rename. A record may list itself.
    execute format('select exists (
        select from (
          select jsonb_array_elements_text($2) except select jsonb_array_elements_text($3)
        ) e(id)
        where e.id <> $1 and not exists (select from %s t where t.id = e.id)
      )', targets) into is_missing using owner, list, previous;
    return is_missing;
  end $$;

-- Fails a statement whose answer exceeds the limit. It is volatile, so the planner never calls it, and parallel safe, so a
-- plan with it may have workers.
create function system.answer_too_large(bytes bigint) returns text language plpgsql volatile parallel safe as $$
  begin
    raise exception 'the answer is too large: % bytes', bytes using errcode = 'RB001';
  end
$$;

-- Reads a cursor's next texts, until there are enough rows or bytes, or enough time has passed. It reads at least one
-- if any is left. FETCH alone counts rows only, and a thousand rows may have a gigabyte.
create function system.fetch_within(rows refcursor, most_rows int, enough_bytes bigint, enough interval)
  returns setof text language plpgsql volatile as $$
  declare
    row_text text;
    bytes bigint := 0;
    until constant timestamptz := clock_timestamp() + enough;
  begin
    for n in 1..most_rows loop
      fetch rows into row_text;
      exit when not found;
      return next row_text;
      bytes := bytes + octet_length(row_text);
      exit when bytes >= enough_bytes or clock_timestamp() >= until;
    end loop;
  end
$$;


-- # Files

-- Bytes to remove once they are due: a file's, a record's if there is no name, a collection's if there is no record. An
-- upload announces its files here before it writes them, and the commit deletes the rows, so a process that dies leaves
-- no unknown files. The records service removes the files and then the rows.
create table system.file_removals (
  id bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  record_id text collate "C",
  name text collate "C",
  due_at timestamptz not null default now(),
  check (name is null or record_id is not null)
);
create index file_removals_due on system.file_removals (due_at);
-- Each record removal and each upload to an existing id looks for the record's files, even while a cascade has left a
-- million of them.
create index file_removals_record on system.file_removals (collection_id, record_id);

-- Announced ranges. A range is all record ids in a collection that have the same start. One row announces every file
-- that a process uploads to new records in a range.
create table system.announced_ranges (
  id bigint generated always as identity primary key,
  collection_id text collate "C" not null,
  ids_start text collate "C" not null,
  is_over boolean not null default false,
  due_at timestamptz not null
);

-- One-time file tokens that were used. The records service adds them and removes them after their end.
create table system.used_file_tokens (
  id text collate "C" primary key,
  expires_at timestamptz not null
);
create index used_file_tokens_expiry on system.used_file_tokens (expires_at);

-- The previews in the store, so that they have a limit in any store. The records service writes the list.
create table system.previews (
  collection_id text collate "C" not null,
  record_id text collate "C" not null,
  name text collate "C" not null,
  bytes bigint not null,
  used_at timestamptz not null default now(),
  primary key (collection_id, record_id, name)
);
create index previews_use on system.previews (used_at);

-- Has a row once the previews that earlier releases left in the store are listed.
create table system.previews_counted (at timestamptz not null default now());

-- The file names in some columns of a record.
create function system.file_names(stored jsonb, columns text[]) returns setof text language sql immutable as $$
    select jsonb_array_elements_text(case jsonb_typeof(stored -> c)
      when 'array' then stored -> c when 'string' then jsonb_build_array(stored -> c) else '[]' end)
    from unnest(columns) c
  $$;

-- The trigger on collections with file fields. Its arguments are the collection's id and the column names.
create function system.files_dropped() returns trigger language plpgsql as $$
  begin
    insert into system.file_removals (collection_id, record_id, name)
    select tg_argv[0], old.id, name from (
      select system.file_names(to_jsonb(old), tg_argv[1:]) as name
      except select system.file_names(to_jsonb(new), tg_argv[1:])
    ) dropped;
    return null;
  end $$;
create function system.records_with_files_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.file_removals (collection_id, record_id) select tg_argv[0], id from gone;
    return null;
  end $$;

-- With it a create's statement keeps its upload's files. It deletes their announcements, and fails if one is gone.
-- Without files its argument is null, and it does nothing.
create function system.keep_announced(ids bigint[]) returns boolean language plpgsql strict volatile as $$
  declare
    kept bigint;
  begin
    delete from system.file_removals where id = any(ids);
    get diagnostics kept = row_count;
    if kept < cardinality(ids) then
      raise exception 'an announced file was removed' using errcode = 'RB002';
    end if;
    return true;
  end
$$;
create function system.range_lock(range bigint) returns bigint language sql immutable as $$
    select hashtextextended('recordbus.announced_range', range)
  $$;
create function system.keep_range(range bigint) returns boolean language plpgsql strict volatile as $$
begin
  perform pg_advisory_xact_lock_shared(system.range_lock(range));
  if not exists (select from system.announced_ranges where id = range and not is_over) then
    raise exception 'an announced file was removed' using errcode = 'RB002';
  end if;
  return true;
end
$$;


-- # Events

-- An event is a row that the record's write adds in the same statement. One record's rows (same record_key) get their
-- ids in commit order, because its row lock is taken before the identity is drawn. A published row stays for a while
-- with its place in the stream, so that a stream that lost it can be given it again; a row that can't be published
-- whatever the bus does is parked with its error. The relay publishes and removes the rows.
create table system.outbox (
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
  parked_at timestamptz,
  -- By how many records the write changed its collection, and in which transaction, so that one snapshot's exact total
  -- can be updated for another without counting. Every insert or delete of records has to fill in both.
  collection_id text collate "C",
  records_added smallint not null default 0,
  transaction_id xid8 not null default pg_current_xact_id(),
  -- The record's encrypted values, as they are stored. Events leave them out, but live readers who may see them get
  -- every version (services/records/src/live). Null for collections without encrypted fields.
  sealed text
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index outbox_pending on system.outbox (id) where published_at is null and parked_at is null;
create index outbox_published on system.outbox (published_at) where published_at is not null;
create index outbox_totals on system.outbox (collection_id, transaction_id) where records_added <> 0;
create index outbox_sealed on system.outbox (event_id) where sealed is not null;

-- Envelopes larger than a bus message, kept as long as the stream keeps references to them. The relay writes them.
create table system.large_events (
  id uuid primary key,
  body text not null,
  created_at timestamptz not null default now()
);

-- Stream messages that are not events, kept for inspection. The webhooks service writes them.
create table system.parked_messages (
  id bigint generated always as identity primary key,
  stream_sequence bigint not null,
  subject text not null,
  body bytea not null,
  error text not null,
  parked_at timestamptz not null default now()
);


-- # Webhooks

-- The webhooks, from the admin service, and their receivers' health, from the webhooks service.
create table system.webhooks (
  id text collate "C" primary key,
  name text not null,
  url text not null,
  events text[] not null,
  secret text not null,
  headers jsonb not null default '{}',
  -- The spans of time in which the webhook listens. An event is sent to webhooks that listened when it happened, however
  -- late it is processed. A webhook is enabled when its last span has no end.
  active tstzmultirange not null default tstzmultirange(tstzrange(now(), null)),
  enabled boolean not null generated always as (upper_inf(active)) stored,
  retry_max integer not null,
  retry_backoff text not null check (retry_backoff in ('exponential', 'fixed')),
  retry_delay_ms integer not null,
  timeout_ms integer not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- A secret that is being replaced.
  previous_secret text,
  previous_secret_until timestamptz,
-- Recorded attempts since the last success, and the first one.
  failures integer not null default 0,
  failing_since timestamptz,
  -- No attempt before this time, and then one at a time until one succeeds.
  paused_until timestamptz
);

-- The log of events, deliveries and attempts is partitioned by the day of the event, so that old rows are removed by dropping
-- a day. Every unique key includes occurred_at, which costs nothing: the time of an event never changes, and the id of a
-- delivery is a hash of event, webhook and time (system.delivery_id).

-- The events that a webhook matched. The webhooks service's fan-out adds them.
create table system.events (
  id uuid not null,
  occurred_at timestamptz not null,
  event text not null,
  body text not null,
  traceparent text,
  -- Record, actor and request, to find a record's events. Events from early releases have none of these.
  record_id text collate "C",
  version text,
  actor_type text,
  actor_id text,
  request_id text,
  primary key (id, occurred_at)
) partition by range (occurred_at);
create index events_newest on system.events (occurred_at desc, id desc);
create index events_record on system.events (record_id, occurred_at desc, id desc) where record_id is not null;

-- One row for each event and webhook that matched it. The fan-out adds them, the delivery workers write their outcome.
create table system.deliveries (
  id uuid not null,
  occurred_at timestamptz not null,
  event_id uuid not null,
  webhook_id text collate "C" not null references system.webhooks on delete cascade,
  event text not null,
  status text not null check (status in ('pending', 'success', 'dead')),
  attempt integer not null default 0,
  response_code integer,
  response_body text,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (id, occurred_at)
) partition by range (occurred_at);
create index deliveries_newest on system.deliveries (webhook_id, created_at desc, id desc);
-- Event times grow, so entries are added at the end of this index. Event ids are random.
create index deliveries_event on system.deliveries (occurred_at, event_id);

-- A delivery's attempts. The delivery workers add them.
create table system.delivery_attempts (
  delivery_id uuid not null,
  occurred_at timestamptz not null,
  attempt integer not null,
  at timestamptz not null,
  response_code integer,
  duration_ms integer not null,
  error text,
  primary key (delivery_id, occurred_at, attempt)
) partition by range (occurred_at);

-- One row for each pending delivery. The table stays small, so claiming is cheap however large the log is. A claim changes no
-- indexed column. The fan-out adds rows, the delivery workers claim and remove them.
create table system.delivery_queue (
  delivery_id uuid primary key,
  occurred_at timestamptz not null,
  event_id uuid not null,
  webhook_id text collate "C" not null references system.webhooks on delete cascade,
  attempt integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  lease_until timestamptz,
  lease_token uuid,
  lost_leases integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index delivery_queue_due on system.delivery_queue (webhook_id, next_attempt_at);

-- An event has the same delivery id for a webhook on every replica, so processing it twice is harmless (a UUIDv7 whose random
-- bits are a hash).
create function system.delivery_id(event_id uuid, webhook_id text, occurred_at timestamptz) returns uuid
  language sql immutable parallel safe
  return (
    lpad(to_hex(floor(extract(epoch from occurred_at) * 1000)::bigint), 12, '0')
    || '7' || substr(md5(event_id::text || webhook_id), 1, 3)
    || '8' || substr(md5(event_id::text || webhook_id), 4, 15)
  )::uuid;

-- A UUIDv7. The default for ids that no client sees before the row exists.
create function system.new_id() returns uuid
  language sql volatile parallel safe
  return (
    lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
    || '7' || substr(gen_random_uuid()::text, 16, 3)
    || replace(substr(gen_random_uuid()::text, 20), '-', '')
  )::uuid;

-- Creates a day's missing partitions (UTC). Attaching does not lock other days' readers and writers. Creating a
-- partition in place would make them wait for the longest reader.
create function system.ensure_event_day(day date) returns void language plpgsql as $$
  declare
    parent text;
    partition text;
  begin
    if to_regclass(format('system.delivery_attempts_%s', to_char(day, 'YYYYMMDD'))) is not null then
      return;
    end if;
    perform pg_advisory_xact_lock(hashtext('recordbus.event_days'));
    foreach parent in array array['events', 'deliveries', 'delivery_attempts'] loop
      partition := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      if to_regclass('system.' || partition) is null then
        execute format('create table system.%I (like system.%I including defaults including constraints)', partition, parent);
        execute format(
          'alter table system.%I attach partition system.%I for values from (%L) to (%L)',
          parent, partition, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'
        );
      end if;
    end loop;
  end
$$;

-- Drops a day's partitions (UTC) and its pending deliveries. Returns whether it did. It waits for the log's current
-- readers and writers only shortly, since all later ones would wait behind it.
create function system.drop_event_day(day date) returns boolean language plpgsql set lock_timeout to '2s' as $$
  declare
    parent text;
  begin
    if not pg_try_advisory_xact_lock(hashtext('recordbus.event_days')) then
      return false;
    end if;
    delete from system.delivery_queue
    where occurred_at >= day::timestamp at time zone 'UTC' and occurred_at < (day + 1)::timestamp at time zone 'UTC';
    foreach parent in array array['deliveries', 'delivery_attempts', 'events'] loop
      execute format('drop table if exists system.%I', format('%s_%s', parent, to_char(day, 'YYYYMMDD')));
    end loop;
    return true;
  end
$$;


-- # Mails

-- Only unsent mails: a mail's variables have valid tokens and codes, so its row is deleted when it is sent. The service
-- whose request causes a mail adds it; the auth service sends it.
create table system.mail_queue (
  id uuid primary key default system.new_id(),
  template text not null,
  recipient text not null,
  variables jsonb not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  lease_until timestamptz,
  lease_token uuid,
  -- Whose request caused the mail, and when its turn is.
  client text not null default '',
  address text not null default '',
  turn_at timestamptz not null default now()
);
create index mail_queue_due on system.mail_queue (next_attempt_at);
create index mail_queue_turns on system.mail_queue (turn_at);
create index mail_queue_clients on system.mail_queue (client, turn_at);
create index mail_queue_addresses on system.mail_queue (address, turn_at);


-- # Logs

-- One row for each audited action, from the service that did it. No foreign key: a row outlives its actor and its target.
create table system.audit (
  id text collate "C" primary key,
  at bigint not null,
  action text not null,
  actor_type text not null,
  -- The product's own work has no request and no caller.
  actor_id text,
  impersonated_by text,
  target_type text,
  target_id text,
  ip text,
  user_agent text,
  details jsonb not null default '{}',
  constraint audit_actor_type check (actor_type in ('user', 'admin', 'guest', 'system', 'service')),
  constraint audit_actor check ((actor_type in ('guest', 'system')) = (actor_id is null))
);
create index audit_newest on system.audit (at desc, id desc);
create index audit_action on system.audit (action, at desc, id desc);
create index audit_actor on system.audit (actor_id, at desc, id desc) where actor_id is not null;

-- The gateways' request log, partitioned by time, so that old rows are removed by dropping a partition. A day has
-- several partitions, so that its oldest rows can be dropped too: the first keeps the day's name (UTC), and a later
-- one's name ends in the time at which it begins. The first one always begins with the day, so the row for a request
-- that took hours finds a partition.
create table system.requests (
  id uuid not null,
  at bigint not null,
  method text not null,
  path text not null,
  status integer not null,
  duration_ms double precision not null,
  ip text,
  user_agent text,
  principal_type text not null,
  principal_id text,
  auth_impersonated_by text,
  request_id text not null,
  trace_id text,
  -- Refusals in one second from one address share a row.
  count integer not null default 1
) partition by range (at);
-- Every index costs each request. Columns without an index are searched in the kept days. Request ids are random, and a
-- BRIN filter for every few pages costs a tenth of a B-tree over all ids.
create index requests_newest on system.requests (at desc, id desc);
create index requests_request on system.requests using brin (request_id text_bloom_ops) with (autosummarize = on);
create index requests_impersonated on system.requests (auth_impersonated_by, at desc, id desc)
  where auth_impersonated_by is not null;

-- Creates a day's missing partition (UTC), as system.ensure_event_day does.
create function system.ensure_request_day(day date) returns void language plpgsql as $$
  declare
    partition text := format('requests_%s', to_char(day, 'YYYYMMDD'));
    starts_at bigint := extract(epoch from day::timestamp at time zone 'UTC');
  begin
    if to_regclass('system.' || partition) is not null then
      return;
    end if;
    perform pg_advisory_xact_lock(hashtext('recordbus.request_days'));
    if to_regclass('system.' || partition) is null then
      execute format('create table system.%I (like system.requests including defaults including constraints)', partition);
      execute format(
        'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
        partition, starts_at, starts_at + 86400
      );
    end if;
  end
$$;

-- Drops a day's partitions. Returns whether it did: another replica may be doing it.
create function system.drop_request_day(day date) returns boolean language plpgsql set lock_timeout to '2s' as $$
  declare
    partition name;
  begin
    if not pg_try_advisory_xact_lock(hashtext('recordbus.request_days')) then
      return false;
    end if;
    for partition in
      select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'system.requests'::regclass
        and left(relname, 17) = format('requests_%s', to_char(day, 'YYYYMMDD'))
    loop
      execute format('drop table system.%I', partition);
    end loop;
    return true;
  end
$$;

-- The request log's partitions, oldest first, with their bytes and bounds.
create function system.request_partitions(out partition name, out bytes bigint, out first_at bigint, out end_at bigint)
  returns setof record language sql stable as $$
    select relname, pg_total_relation_size(inhrelid), bounds[1]::bigint, bounds[2]::bigint
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    cross join regexp_match(pg_get_expr(relpartbound, pg_class.oid), '\(''?(-?\d+)''?\) TO \(''?(-?\d+)''?\)') as bounds
    where inhparent = 'system.requests'::regclass
    order by bounds[1]::bigint
$$;

-- Drops a log's oldest partitions over seven eighths of its limit, and begins a new one when the current one has an
-- eighth. Returns how many partitions were dropped; another replica may be doing it.
create function system.bound_requests(max_bytes bigint) returns integer language plpgsql set lock_timeout to '2s' as $$
  declare
    total bigint;
    parts integer;
    dropped integer := 0;
    oldest record;
    next record;
    newest record;
    now_at bigint := extract(epoch from clock_timestamp());
    split_at bigint;
  begin
    if not pg_try_advisory_xact_lock(hashtext('recordbus.request_days')) then
      return 0;
    end if;
    loop
      select coalesce(sum(bytes), 0), count(*) into total, parts from system.request_partitions();
      exit when total <= max_bytes / 8 * 7 or parts < 2;
      select * into oldest from system.request_partitions() limit 1;
      select * into next from system.request_partitions() offset 1 limit 1;
      if left(next.partition, 17) = left(oldest.partition, 17) then
        execute format('alter table system.requests detach partition system.%I', next.partition);
        execute format('drop table system.%I', oldest.partition);
        execute format('alter table system.%I rename to %I', next.partition, oldest.partition);
        execute format(
          'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
          oldest.partition, oldest.first_at, next.end_at
        );
      else
        execute format('drop table system.%I', oldest.partition);
      end if;
      dropped := dropped + 1;
    end loop;
    select * into newest from system.request_partitions() where now_at >= first_at and now_at < end_at;
    if newest.bytes > max_bytes then
      -- The limit was lowered, or the version before had none. Nothing smaller than the whole can be dropped.
      execute format('truncate system.%I', newest.partition);
      return dropped + 1;
    end if;
    if newest.bytes > max_bytes / 8 then
      execute format('select greatest(%s, max(at)) + 1 from system.%I', now_at, newest.partition) into split_at;
      if split_at < newest.end_at then
        execute format('alter table system.requests detach partition system.%I', newest.partition);
        execute format(
          'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
          newest.partition, newest.first_at, split_at
        );
        execute format(
          'create table system.%1$I (like system.requests including defaults including constraints)',
          left(newest.partition, 17) || to_char(to_timestamp(split_at) at time zone 'UTC', '"_"HH24MISS')
        );
        execute format(
          'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
          left(newest.partition, 17) || to_char(to_timestamp(split_at) at time zone 'UTC', '"_"HH24MISS'),
          split_at, newest.end_at
        );
      end if;
    end if;
    return dropped;
  end
$$;


-- # Extensions

-- The key-value store of extensions. Their code writes it.
create table system.extension_values (
  extension text collate "C" not null,
  key text collate "C" not null,
  value jsonb not null,
  expires_at timestamptz,
  primary key (extension, key)
);
create index extension_values_expiry on system.extension_values (expires_at) where expires_at is not null;

-- Extensions' crons. The records service writes them.
create table system.crons (
  name text collate "C" primary key,
  -- The last tick that a replica handled; before the first, the time when the cron first appeared.
  last_tick timestamptz not null
);

-- One row for each tick, whatever the number of replicas; runs by hand have no tick. The replica that runs it writes it.
create table system.cron_runs (
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
);
create index cron_runs_newest on system.cron_runs (cron, started_at desc);
create index cron_runs_age on system.cron_runs (started_at);


-- # Jobs and backups

-- Jobs, such as imports. The records service writes them.
create table system.jobs (
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
  -- `position` and `last_row` are the current pass's progress. They commit together with its writes.
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
  -- Grows with each replica that takes the job.
  fence bigint not null default 0,
  lease_until timestamptz,
  active_ms bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz
);
create index jobs_unfinished on system.jobs (created_at, id) where state in ('queued', 'running');
create index jobs_newest on system.jobs (created_at desc, id desc);
create index jobs_finished on system.jobs (finished_at) where finished_at is not null;
create index jobs_body on system.jobs (body_id);

-- Rows in a job's body that were refused or need another pass. `waiting`: not written because a target is missing;
-- `incomplete`: written without the fields in `details`. The records service writes them.
create table system.job_rows (
  job_id uuid not null references system.jobs on delete cascade,
  row bigint not null,
  state text not null check (state in ('refused', 'waiting', 'incomplete')),
  record_id text collate "C",
  details jsonb not null,
  primary key (job_id, row)
);
create index job_rows_unfinished on system.job_rows (job_id, record_id) where state <> 'refused';

-- The backups that were made through the API. Their archives are in the store. The records service writes the list.
create table system.backups (
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
);
create index backups_newest on system.backups (created_at desc, id desc);
