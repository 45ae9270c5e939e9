-- The keys of the tokens that PocketBase signed for accounts that have moved in. The key is encrypted if there is an
-- encryption key. With another token version of the account its key is void.
create table system.pocketbase_keys (
  account_id text collate "C" primary key,
  collection_id text collate "C" not null references system.collections (id) on delete cascade,
  token_key text not null,
  token_version integer not null,
  -- False once the account has signed out everywhere: the token's open session stays, no other begins.
  opens_sessions boolean not null default true
);
create index pocketbase_keys_collection on system.pocketbase_keys (collection_id);

-- Tokens of PocketBase that have opened their session. Without its row in sessions, a token here has ended.
create table system.pocketbase_tokens (
  session_id text collate "C" primary key,
  account_id text collate "C" not null,
  expires_at bigint not null
);
create index pocketbase_tokens_expiry on system.pocketbase_tokens (expires_at);

-- A fixed session ends with the token that opened it: a refresh does not extend it.
alter table system.sessions add column is_fixed boolean not null default false;

-- As before, and the keys go too.
create or replace function system.accounts_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) select id from gone;
    delete from system.sessions where account_id in (select id from gone);
    delete from system.one_time_tokens where account_id in (select id from gone);
    delete from system.recovery_codes where account_id in (select id from gone);
    delete from system.oauth_links where account_id in (select id from gone);
    delete from system.pocketbase_keys where account_id in (select id from gone);
    delete from system.once_proved_accounts where account_id in (select id from gone);
    with ended as (
        delete from system.sessions where impersonated_by in (select id from gone) returning id
      ) insert into system.revocations (subject) select id from ended;
    return null;
  end $$;
