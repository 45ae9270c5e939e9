/** Creates service keys. Their collections are stored by id, so a scope follows renames and ends with its collection. */
export const statements: readonly string[] = [
  `create table system.service_keys (
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
  )`,

  // Each change makes the cached key stale, and so the list of all keys.
  `create function system.service_key_changed() returns trigger language plpgsql as $$
  declare
    key text := coalesce(new.id, old.id);
  begin
    insert into system.revocations (subject) values (key), ('service_keys');
    if tg_op = 'DELETE' or (tg_op = 'UPDATE' and not new.scopes && array['users:impersonate', 'admin']) then
      with ended as (delete from system.sessions where impersonated_by = key returning id)
        insert into system.revocations (subject) select id from ended;
    end if;
    return null;
  end $$`,
  `create trigger service_key_added after insert or delete on system.service_keys for each row
   execute function system.service_key_changed()`,
  `create trigger service_key_changed after update on system.service_keys for each row
   when ((old.hash, old.scopes, old.expires_at, old.allowed_cidrs, old.rate_label)
     is distinct from (new.hash, new.scopes, new.expires_at, new.allowed_cidrs, new.rate_label))
   execute function system.service_key_changed()`,

  `create function system.key_collection_changed() returns trigger language plpgsql as $$
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
  end $$`,
  `create trigger key_collection_deleted after delete on system.collections for each row
   execute function system.key_collection_changed()`,
  `create trigger key_collection_renamed after update on system.collections for each row
   when (old.name <> new.name) execute function system.key_collection_changed()`,

  // Actors of audit rows and of history rows. Existing rows meet the wider condition, so none is read.
  'alter table system.audit drop constraint audit_actor_type',
  `alter table system.audit add constraint audit_actor_type
    check (actor_type in ('user', 'admin', 'guest', 'system', 'service')) not valid`,
  `do $$
  declare
    found record;
  begin
    for found in
      select c.conname, c.conrelid::regclass as history_table from pg_constraint c
      join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
      where n.nspname = 'history' and c.contype = 'c' and pg_get_constraintdef(c.oid) like '%actor_type%'
    loop
      execute format('alter table %s drop constraint %I', found.history_table, found.conname);
      execute format($sql$alter table %s add constraint %I
        check (actor_type in ('user', 'admin', 'guest', 'service')) not valid$sql$, found.history_table, found.conname);
    end loop;
  end $$`,
];
