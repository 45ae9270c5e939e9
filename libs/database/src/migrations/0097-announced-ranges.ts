/**
 * Creates the list of announced ranges. One row announces the files of all uploads of a process to new records of a
 * collection whose ids begin alike. The statement of such a create calls `keep_range`, which fails once the range is over.
 * The lock makes the end of a range wait for the commits of creates that found it open. `keep_announced` stays for
 * services of the version before.
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
