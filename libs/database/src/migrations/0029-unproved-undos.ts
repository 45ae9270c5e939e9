/**
 * Adds undo links to addresses that were not proved. They are void once an address of the account is proved after the
 * change. A replica of the previous release ignores the new members of `data` and sends such an address no link.
 */
export const statements: readonly string[] = [
  // Changes first, then tokens: a mail that is queued meanwhile has turned its change into a token.
  `create function system.end_unproved_undos(account text) returns void language plpgsql as $$
  begin
    update system.account_changes set data = data || '{"isUndoableUntilProved": false}'
      where account_id = account and kind = 'email';
    delete from system.one_time_tokens
      where account_id = account and purpose = 'undo_email_change' and data->>'untilProved' = 'true';
  end $$`,

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
  end $$`,
];
