-- Drops the ranges of announced files: each file has its own row again. A range that is still there belongs to a process
-- that died, which may have left files without records. Its removal is listed under the name `*`, which no file has: the
-- records service looks through the stored files of the range once. The files of a dropped collection all go.
insert into system.file_removals (collection_id, record_id, name, due_at)
select collection_id, ids_start, '*', max(due_at) from system.announced_ranges
where collection_id in (select id from system.collections) group by collection_id, ids_start;
insert into system.file_removals (collection_id)
select distinct collection_id from system.announced_ranges
where collection_id not in (select id from system.collections);
drop table system.announced_ranges;
drop function system.keep_range;
drop function system.range_lock;

-- It now finds each row by the index. An array of ids made a bitmap of it, which took twice as long.
create or replace function system.keep_announced(ids bigint[]) returns boolean language plpgsql strict volatile as $$
  declare
    announced bigint;
  begin
    foreach announced in array ids loop
      delete from system.file_removals where id = announced;
      if not found then
        raise exception 'an announced file was removed' using errcode = 'RB002';
      end if;
    end loop;
    return true;
  end
$$;
