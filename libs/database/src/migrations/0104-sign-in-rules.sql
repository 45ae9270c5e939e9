-- The rule that an account must fulfil to sign in; null admits every account, the empty text none.
alter table system.collections add column sign_in_rule text;

-- Accounts with sessions that the rule of their collection may no longer admit; without an account, all of the
-- collection's. Triggers add rows; the auth service checks the accounts, ends the refused ones' sessions, and removes the
-- rows.
create table system.sign_in_checks (
  id bigint generated always as identity primary key,
  collection_id text not null,
  account_id text,
  due_at timestamptz not null default now()
);

-- The trigger after an account's update, on auth collections with such a rule.
create function system.sign_in_account_changed() returns trigger language plpgsql as $$
  begin
    if exists (select from system.sessions where account_id = new.id) then
      insert into system.sign_in_checks (collection_id, account_id) values (tg_argv[0], new.id);
    end if;
    return null;
  end $$;

-- The trigger after writes to another collection that such rules read.
create function system.sign_in_source_changed() returns trigger language plpgsql as $$
  begin
    insert into system.sign_in_checks (collection_id) select unnest(tg_argv);
    return null;
  end $$;

-- A new rule is checked at once, and again when every process knows it: one that does not know it yet may open a session.
create function system.sign_in_rule_changed() returns trigger language plpgsql as $$
  begin
    insert into system.sign_in_checks (collection_id, due_at)
      values (new.id, now()), (new.id, now() + interval '10 seconds');
    return null;
  end $$;
create trigger sign_in_rule_changed after update on system.collections for each row
  when (new.sign_in_rule is not null and old.sign_in_rule is distinct from new.sign_in_rule)
  execute function system.sign_in_rule_changed();
