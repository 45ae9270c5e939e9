/**
 * Creates the function that reads the versions of earlier records with some ids. It takes the turn of each id, in one order,
 * and then runs the query with the ids. A statement sees the tables as they were when it began; a query of a volatile
 * function sees what was committed while the function waited.
 */
export const statements: readonly string[] = [
  `create function system.last_versions(turn text, query text, ids text[])
returns table (id text, updated_at bigint, _revision integer, is_there boolean) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(turn || i.id, 0))
    from (select u.id from unnest(ids) u(id) order by u.id collate "C") i;
  return query execute query using ids;
end
$$`,
];
