/**
 * Creates the table of announced ranges. A range is all record ids of a collection that have the same start. One row
 * announces every file that a process uploads to new records in a range. The statement that creates such a record calls
 * `keep_range`, which fails after the range has ended. A range ends only after all creates that found it open have
 * committed; the advisory lock makes sure of that. The previous version of the services still calls `keep_announced`.
 */
export const statements: readonly string[] = [
  `create table system.announced_ranges (
    id bigint generated always as identity primary key,
    collection_id text collate "C" not null,
    ids_start text collate "C" not null,
    is_over boolean not null default false,
    due_at timestamptz not null
  )`,
  `create function system.range_lock(range bigint) returns bigint language sql immutable as $$
    select hashtextextended('recordbus.announced_range', range)
  $$`,
  `create function system.keep_range(range bigint) returns boolean language plpgsql strict volatile as $$
begin
  perform pg_advisory_xact_lock_shared(system.range_lock(range));
  if not exists (select from system.announced_ranges where id = range and not is_over) then
    raise exception 'an announced file was removed' using errcode = 'RB002';
  end if;
  return true;
end
$$`,
];
