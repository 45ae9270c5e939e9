/** Creates links to identities at OAuth2 providers, and the state of sign-ins in progress. */
export const statements: readonly string[] = [
  `create table system.oauth_links (
    collection_id text collate "C" not null,
    provider text not null,
    provider_user_id text collate "C" not null,
    account_id text collate "C" not null,
    created_at bigint not null,
    primary key (collection_id, provider, provider_user_id)
  )`,
  'create index oauth_links_account on system.oauth_links (account_id)',

  // PKCE verifiers kept for clients. A used one stays for a while, so that its state is known as used.
  `create table system.oauth_states (
    collection_id text collate "C" not null,
    state_hash text collate "C" not null,
    provider text not null,
    redirect_uri text not null,
    verifier text not null,
    used_at bigint,
    expires_at bigint not null,
    primary key (collection_id, state_hash)
  )`,
  'create index oauth_states_expiry on system.oauth_states (expires_at)',

  `create or replace function system.accounts_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) select id from gone;
    delete from system.sessions where account_id in (select id from gone);
    delete from system.one_time_tokens where account_id in (select id from gone);
    delete from system.recovery_codes where account_id in (select id from gone);
    delete from system.oauth_links where account_id in (select id from gone);
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
    end if;
    return null;
  end $$`,
];
