/** Creates sessions, one-time tokens, failed sign-ins, and the log of revocations. */
export const statements: readonly string[] = [
  // Sessions of accounts: users (of a collection) or admins (of none).
  `create table system.sessions (
    id text collate "C" primary key,
    collection_id text collate "C",
    account_id text collate "C" not null,
    created_at bigint not null,
    last_used_at bigint not null,
    expires_at bigint not null,
    ip text,
    user_agent text
  )`,
  'create index sessions_account on system.sessions (account_id)',
  'create index sessions_expiry on system.sessions (expires_at)',

  // Links and codes that work once. Only hashes are stored; a token is used up by deleting its row.
  `create table system.one_time_tokens (
    token_hash text collate "C" primary key,
    purpose text not null,
    collection_id text collate "C" not null,
    account_id text collate "C" not null,
    data jsonb not null default '{}',
    failures smallint not null default 0,
    created_at bigint not null,
    expires_at bigint not null
  )`,
  'create index one_time_tokens_account on system.one_time_tokens (account_id, purpose)',
  'create index one_time_tokens_expiry on system.one_time_tokens (expires_at)',

  // Failed sign-ins by address or client; a count is valid until `resets_at`.
  `create table system.failed_logins (
    key text collate "C" primary key,
    failures integer not null,
    resets_at bigint not null
  )`,
  'create index failed_logins_reset on system.failed_logins (resets_at)',

  // The log of what gateways must look up again: the id of an account or a session, or * for everything.
  `create table system.revocations (
    id bigint generated always as identity primary key,
    subject text not null,
    transaction_id xid8 not null default pg_current_xact_id(),
    revoked_at timestamptz not null default now()
  )`,
  'create index revocations_transaction on system.revocations (transaction_id)',

  // A new token version ends every session and every pending link or code, except the link that proves the address.
  `create function system.account_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) values (new.id);
    if new.token_version <> old.token_version then
      delete from system.sessions where account_id = new.id;
      delete from system.one_time_tokens where account_id = new.id and purpose <> 'verification';
    end if;
    return null;
  end $$`,
  `create function system.accounts_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) select id from gone;
    delete from system.sessions where account_id in (select id from gone);
    delete from system.one_time_tokens where account_id in (select id from gone);
    return null;
  end $$`,
  `create trigger account_changed after update on system.admins for each row
   when ((old.token_version, old.email) is distinct from (new.token_version, new.email))
   execute function system.account_changed()`,
  `create trigger accounts_deleted after delete on system.admins referencing old table as gone
   for each statement execute function system.accounts_deleted()`,

  // Tokens name the collection of their user, so they end when it is deleted or renamed.
  `create function system.auth_collection_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) values ('*');
    if tg_op = 'DELETE' then
      delete from system.sessions where collection_id = old.id;
      delete from system.one_time_tokens where collection_id = old.id;
    end if;
    return null;
  end $$`,
  `create trigger auth_collection_deleted after delete on system.collections for each row
   when (old.type = 'auth') execute function system.auth_collection_changed()`,
  `create trigger auth_collection_renamed after update on system.collections for each row
   when (old.type = 'auth' and old.name <> new.name) execute function system.auth_collection_changed()`,
];
