/**
 * Creates the function with which the statement of a create keeps the files of its upload. It deletes their
 * announcements, and fails if one is gone. Without files its argument is null, and it does nothing.
 */
export const statements = [
  `create function system.keep_announced(ids bigint[]) returns boolean language plpgsql strict volatile as $$
declare
  kept bigint;
begin
  delete from system.file_removals where id = any(ids);
  get diagnostics kept = row_count;
  if kept < cardinality(ids) then
    raise exception 'an announced file was removed' using errcode = 'RB002';
  end if;
  return true;
end
$$`,
];
