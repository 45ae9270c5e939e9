/**
 * Bounds the bytes of the request log. A day becomes several partitions, so that its oldest rows can be dropped too:
 * the first keeps the day's name, and the name of a later one ends in the time at which it begins. The first one always
 * begins with the day. So a row of a request that took hours finds a partition, and the previous version, which looks
 * for the day's name, works as before.
 */
export const statements: readonly string[] = [
  'alter table system.requests add column count integer not null default 1',

  `create or replace function system.drop_request_day(day date) returns boolean language plpgsql set lock_timeout to '2s' as $$
    declare
      partition name;
    begin
      if not pg_try_advisory_xact_lock(hashtext('recordbus.request_days')) then
        return false;
      end if;
      for partition in
        select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = 'system.requests'::regclass
          and left(relname, 17) = format('requests_%s', to_char(day, 'YYYYMMDD'))
      loop
        execute format('drop table system.%I', partition);
      end loop;
      return true;
    end
  $$`,

  `create function system.request_partitions(out partition name, out bytes bigint, out first_at bigint, out end_at bigint)
    returns setof record language sql stable as $$
      select relname, pg_total_relation_size(inhrelid), bounds[1]::bigint, bounds[2]::bigint
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      cross join regexp_match(pg_get_expr(relpartbound, pg_class.oid), '\\(''?(-?\\d+)''?\\) TO \\(''?(-?\\d+)''?\\)') as bounds
      where inhparent = 'system.requests'::regclass
      order by bounds[1]::bigint
  $$`,

  // Drops the oldest partitions of a log over seven eighths of its limit, and begins a new one when the current one has
  // an eighth. Returns the number of dropped partitions; another replica may be doing it.
  `create function system.bound_requests(max_bytes bigint) returns integer language plpgsql set lock_timeout to '2s' as $$
    declare
      total bigint;
      parts integer;
      dropped integer := 0;
      oldest record;
      next record;
      newest record;
      now_at bigint := extract(epoch from clock_timestamp());
      split_at bigint;
    begin
      if not pg_try_advisory_xact_lock(hashtext('recordbus.request_days')) then
        return 0;
      end if;
      loop
        select coalesce(sum(bytes), 0), count(*) into total, parts from system.request_partitions();
        exit when total <= max_bytes / 8 * 7 or parts < 2;
        select * into oldest from system.request_partitions() limit 1;
        select * into next from system.request_partitions() offset 1 limit 1;
        if left(next.partition, 17) = left(oldest.partition, 17) then
          execute format('alter table system.requests detach partition system.%I', next.partition);
          execute format('drop table system.%I', oldest.partition);
          execute format('alter table system.%I rename to %I', next.partition, oldest.partition);
          execute format(
            'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
            oldest.partition, oldest.first_at, next.end_at
          );
        else
          execute format('drop table system.%I', oldest.partition);
        end if;
        dropped := dropped + 1;
      end loop;
      select * into newest from system.request_partitions() where now_at >= first_at and now_at < end_at;
      if newest.bytes > max_bytes then
        -- The limit was lowered, or the version before had none. Nothing smaller than the whole can be dropped.
        execute format('truncate system.%I', newest.partition);
        return dropped + 1;
      end if;
      if newest.bytes > max_bytes / 8 then
        execute format('select greatest(%s, max(at)) + 1 from system.%I', now_at, newest.partition) into split_at;
        if split_at < newest.end_at then
          execute format('alter table system.requests detach partition system.%I', newest.partition);
          execute format(
            'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
            newest.partition, newest.first_at, split_at
          );
          execute format(
            'create table system.%1$I (like system.requests including defaults including constraints)',
            left(newest.partition, 17) || to_char(to_timestamp(split_at) at time zone 'UTC', '"_"HH24MISS')
          );
          execute format(
            'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
            left(newest.partition, 17) || to_char(to_timestamp(split_at) at time zone 'UTC', '"_"HH24MISS'),
            split_at, newest.end_at
          );
        end if;
      end if;
      return dropped;
    end
  $$`,
];
