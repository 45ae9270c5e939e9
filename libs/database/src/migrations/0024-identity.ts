/** Adds the mails to holders of accounts about changes, and whether an address of an account was ever proved. */
export const statements: readonly string[] = [
  // The time of the sign-in that opened the session; null without one (opened by a refresh, or by an admin who acts as
  // the user). Later refreshes do not change it.
  'alter table system.sessions add column signed_in_at bigint',

  // Accounts whose address was proved once and is not now. These and the verified ones always keep their second factor.
  // It is a table of its own, since a column could have the name of an existing field.
  `create table system.once_proved_accounts (
    account_id text collate "C" primary key,
    collection_id text collate "C" not null
  )`,
  'create index once_proved_accounts_collection on system.once_proved_accounts (collection_id)',

  // Changes about which holders of accounts still have to get a mail, in their order for each account. The auth service
  // sends the mail and removes the row.
  `create table system.account_changes (
    id bigint generated always as identity primary key,
    collection_id text collate "C" not null,
    account_id text collate "C" not null,
    kind text not null,
    email text not null,
    data jsonb not null default '{}',
    changed_at bigint not null default extract(epoch from clock_timestamp())::bigint
  )`,
  'create index account_changes_account on system.account_changes (account_id)',

  // A new token version ends every session and every pending link. Only the link that undoes a change of address stays:
  // a person who took the account over must not be able to end it. (Migration 0025 adds `verified` to the trigger.)
  `create or replace function system.account_changed() returns trigger language plpgsql as $$
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
      if lower(new.email) <> lower(old.email) then
        insert into system.account_changes (collection_id, account_id, kind, email, data) values
          (collection, new.id, 'email', old.email,
            jsonb_build_object('newEmail', new.email, 'isUndoable', old.verified));
      end if;
      if new.token_version <> old.token_version and new.password_hash <> coalesce(old.password_hash, '') then
        insert into system.account_changes (collection_id, account_id, kind, email) values
          (collection, new.id, 'password', old.email);
      end if;
    end if;
    return null;
  end $$`,
  `create or replace function system.accounts_deleted() returns trigger language plpgsql as $$
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
  end $$`,
  `create or replace function system.auth_collection_changed() returns trigger language plpgsql as $$
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
  end $$`,
];
