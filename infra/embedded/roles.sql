-- A deployment's roles. A superuser runs this in the deployment's database. It can be repeated and adds only what is
-- missing. Session settings give the owner's name and password: recordbus.owner and recordbus.password.
--
--   owner              owns the database and everything that the product has in it; the services connect as this role
--   <database>_reader  the role for reads that clients shape; it may only read (the services grant it what it needs)
begin;

do $roles$
declare
  owner_name constant text := current_setting('recordbus.owner');
  reader_name constant text := current_database() || '_reader';
  statement text;
begin
  if not exists (select from pg_roles where rolname = owner_name) then
    execute format('create role %I login', owner_name);
  end if;
  execute format('alter role %I login nosuperuser nocreatedb nocreaterole noreplication password %L',
    owner_name, current_setting('recordbus.password'));
  if not exists (select from pg_roles where rolname = reader_name) then
    execute format('create role %I', reader_name);
  end if;
  if not pg_has_role(owner_name, reader_name, 'member') then
    execute format('grant %I to %I', reader_name, owner_name);
  end if;

  -- "reassign owned" refuses objects that belong to the role that created the cluster, so each object is named.
  for statement in
    select format('alter database %I owner to %I', datname, owner_name) from pg_database
      where datname = current_database() and pg_get_userbyid(datdba) <> owner_name
    union all
    select format('alter schema %I owner to %I', nspname, owner_name) from pg_namespace
      where nspname in ('system', 'records', 'history', 'links', 'search') and pg_get_userbyid(nspowner) <> owner_name
    union all
    select format('alter %s %s owner to %I',
        case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
          when 'c' then 'type' else 'table' end, c.oid::regclass, owner_name)
      from pg_class c
      where c.relnamespace in (select oid from pg_namespace where nspname in ('system', 'records', 'history', 'links', 'search'))
        and c.relkind in ('r', 'p', 'v', 'm', 'c', 'S') and pg_get_userbyid(c.relowner) <> owner_name
        -- A table's sequence changes owner with it, and an extension's objects belong to the extension.
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
          and (d.deptype = 'e' or c.relkind = 'S' and d.deptype in ('a', 'i')))
    union all
    select format('alter routine %s owner to %I', p.oid::regprocedure, owner_name) from pg_proc p
      where p.pronamespace in (select oid from pg_namespace where nspname in ('system', 'records', 'history', 'links', 'search'))
        and pg_get_userbyid(p.proowner) <> owner_name
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  loop
    execute statement;
  end loop;
end
$roles$;

commit;
