/**
 * Adds `_revision`, the number of earlier writes in the second `updated_at`, as the second part of a record's version.
 * A replica of the previous release leaves `_revision` as it is and increases `updated_at`, so its versions are new too.
 */
export const statements: readonly string[] = [
  // Skips tables that have the column. A constant default writes no row of the table.
  `create function system.keep_versions(collection_id text, table_name text) returns void language plpgsql as $$
  declare
    of_records regclass := to_regclass(format('records.%I', table_name));
    of_history regclass := to_regclass(format('history.%I', collection_id));
    primary_key name;
  begin
    if of_records is not null and not exists (
      select from pg_attribute where attrelid = of_records and attname = '_revision' and not attisdropped
    ) then
      execute format('alter table %s add column _revision integer not null default 0', of_records);
    end if;
    if of_history is not null and not exists (
      select from pg_attribute where attrelid = of_history and attname = '_revision' and not attisdropped
    ) then
      select conname into strict primary_key from pg_constraint where conrelid = of_history and contype = 'p';
      execute format('alter table %s add column _revision integer not null default 0', of_history);
      execute format('alter table %s drop constraint %I, add primary key (record_id, at, _revision)',
        of_history, primary_key);
    end if;
  end $$`,

  // Writers never wait long: if one of the tables is not free soon, all locks are released for a moment.
  `do $$
  declare
    is_locked boolean := false;
    target text;
    collection record;
  begin
    while not is_locked loop
      begin
        set local lock_timeout = '300ms';
        for target in
          select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where c.relkind = 'r' and n.nspname in ('records', 'history') order by c.oid
        loop
          execute format('lock table %s in access exclusive mode', target);
        end loop;
        is_locked := true;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.05 + 0.1 * random());
      end;
    end loop;
    set local lock_timeout = 0;
    for collection in select id, name from system.collections where type <> 'view' loop
      perform system.keep_versions(collection.id, collection.name);
    end loop;
  end $$`,

  // A replica of the previous release may create tables without the column: they get it with the commit.
  `create function system.keep_versions_of_collection() returns trigger language plpgsql as $$
  begin
    perform system.keep_versions(new.id, new.name);
    return null;
  end $$`,
  `create constraint trigger keep_versions after insert or update on system.collections
    deferrable initially deferred for each row when (new.type <> 'view')
    execute function system.keep_versions_of_collection()`,
];
