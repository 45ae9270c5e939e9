/** Creates one-time codes and recovery codes. */
export const statements: readonly string[] = [
  // An account has one valid code: with several, each guess would try all of them.
  "create unique index one_time_tokens_one_code on system.one_time_tokens (account_id) where purpose = 'otp'",

  // A set shares its salt, so that one slow digest of a guess is compared with all of them.
  `create table system.recovery_codes (
    collection_id text collate "C" not null,
    account_id text collate "C" not null,
    digest text not null,
    salt text not null,
    used_at bigint,
    primary key (account_id, digest)
  )`,

  `create or replace function system.accounts_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) select id from gone;
    delete from system.sessions where account_id in (select id from gone);
    delete from system.one_time_tokens where account_id in (select id from gone);
    delete from system.recovery_codes where account_id in (select id from gone);
    return null;
  end $$`,
  `create or replace function system.auth_collection_changed() returns trigger language plpgsql as $$
  begin
    insert into system.revocations (subject) values ('*');
    if tg_op = 'DELETE' then
      delete from system.sessions where collection_id = old.id;
      delete from system.one_time_tokens where collection_id = old.id;
      delete from system.recovery_codes where collection_id = old.id;
    end if;
    return null;
  end $$`,
];
