-- Users' and admins' passkeys (WebAuthn credentials). The auth service adds them, and notes their use. An admin's
-- collection is 'admins'.
create table system.passkeys (
  id text collate "C" primary key,
  collection_id text collate "C" not null,
  account_id text collate "C" not null,
  -- One authenticator's key belongs to one account.
  credential_id bytea not null unique,
  -- A COSE key.
  public_key bytea not null,
  -- Random, the same for an account's passkeys. It names the account to authenticators.
  user_handle bytea not null,
  -- Zero for keys that a provider copies to several devices.
  sign_count bigint not null,
  is_copyable boolean not null,
  is_copied boolean not null,
  transports text[] not null default '{}',
  name text not null,
  created_at bigint not null,
  last_used_at bigint
);
create index passkeys_account on system.passkeys (account_id);
create index passkeys_collection on system.passkeys (collection_id);

-- As before, and the passkeys go too.
create or replace function system.accounts_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) select id from gone;
    delete from system.sessions where account_id in (select id from gone);
    delete from system.one_time_tokens where account_id in (select id from gone);
    delete from system.recovery_codes where account_id in (select id from gone);
    delete from system.oauth_links where account_id in (select id from gone);
    delete from system.passkeys where account_id in (select id from gone);
    delete from system.pocketbase_keys where account_id in (select id from gone);
    delete from system.once_proved_accounts where account_id in (select id from gone);
    with ended as (
        delete from system.sessions where impersonated_by in (select id from gone) returning id
      ) insert into system.revocations (subject) select id from ended;
    return null;
  end $$;

-- As before, and the passkeys go too.
create or replace function system.auth_collection_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) values ('*');
    if tg_op = 'DELETE' then
      delete from system.sessions where collection_id = old.id;
      delete from system.one_time_tokens where collection_id = old.id;
      delete from system.recovery_codes where collection_id = old.id;
      delete from system.oauth_links where collection_id = old.id;
      delete from system.oauth_states where collection_id = old.id;
      delete from system.passkeys where collection_id = old.id;
      delete from system.once_proved_accounts where collection_id = old.id;
      delete from system.account_changes where collection_id = old.id;
    end if;
    return null;
  end $$;
