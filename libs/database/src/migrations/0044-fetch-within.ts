/**
 * Creates the function that reads the next texts of a cursor, until there are enough rows or bytes, or enough time has
 * passed. It reads at least one if any is left. FETCH alone counts rows only, and a thousand rows may have a gigabyte.
 */
export const statements: readonly string[] = [
  `create function system.fetch_within(rows refcursor, most_rows int, enough_bytes bigint, enough interval)
returns setof text language plpgsql volatile as $$
declare
  row_text text;
  bytes bigint := 0;
  until constant timestamptz := clock_timestamp() + enough;
begin
  for n in 1..most_rows loop
    fetch rows into row_text;
    exit when not found;
    return next row_text;
    bytes := bytes + octet_length(row_text);
    exit when bytes >= enough_bytes or clock_timestamp() >= until;
  end loop;
end
$$`,
];
