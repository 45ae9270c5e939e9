/** Sessions in which an admin acts as a user: they end with either of them. */
export const statements: readonly string[] = [
  'alter table system.sessions add column impersonated_by text collate "C"',
  'create index sessions_impersonator on system.sessions (impersonated_by) where impersonated_by is not null',

  `create or replace function system.account_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) values (new.id);
    if new.token_version <> old.token_version then
      delete from system.sessions where account_id = new.id;
      delete from system.one_time_tokens where account_id = new.id and purpose <> 'verification';
      with ended as (delete from system.sessions where impersonated_by = new.id returning id)
        insert into system.revocations (subject) select id from ended;
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
    with ended as (
        delete from system.sessions where impersonated_by in (select id from gone) returning id
      ) insert into system.revocations (subject) select id from ended;
    return null;
  end $$`,
];
