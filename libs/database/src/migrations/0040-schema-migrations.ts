/**
 * Adds the list of data migrations of schema files that ran (schema §5), and the function of the trigger on the tables
 * while one runs. It completes new rows and gives changed rows their next version.
 */
export const statements: readonly string[] = [
  `create table system.schema_migrations (
    name text primary key,
    digest text not null,
    sql text not null,
    applied_at bigint not null default extract(epoch from now())::bigint
  )`,
  `create function system.migrated_row() returns trigger language plpgsql as $$
  declare
    now_sec constant bigint := floor(extract(epoch from now()))::bigint;
  begin
    if tg_op = 'INSERT' then
      new.id := coalesce(new.id, gen_random_uuid()::text);
      if new.id !~ '^[A-Za-z0-9_-]{1,64}$' then
        raise exception 'the id "%" is not a valid id', left(new.id, 100) using errcode = 'check_violation';
      end if;
      new.created_at := coalesce(new.created_at, now_sec);
      new.updated_at := coalesce(new.updated_at, now_sec);
      return new;
    end if;
    if new.id is distinct from old.id then
      raise exception 'ids never change' using errcode = 'check_violation';
    end if;
    if new is distinct from old then
      new.updated_at := greatest(now_sec, old.updated_at);
      new._revision := case when old.updated_at < now_sec then 0 else old._revision + 1 end;
    end if;
    return new;
  end $$`,
];
