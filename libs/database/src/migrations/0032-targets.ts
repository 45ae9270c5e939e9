/**
 * Adds the function that finds a missing target among those that a write adds to a list (fields §3.9). It reads each id
 * by the primary key and stops at the first that is missing.
 */
export const statements: readonly string[] = [
  `create function links.lacks_target(links text, key text, owner text, list jsonb, previous jsonb)
   returns boolean language plpgsql stable as $$
  declare
    targets regclass;
    is_missing boolean;
  begin
    select confrelid into strict targets from pg_constraint where conrelid = links::regclass and conname = key;
    -- The name is of now, so the function needs no change after a rename. A record may list itself.
    execute format('select exists (
        select from (
          select jsonb_array_elements_text($2) except select jsonb_array_elements_text($3)
        ) e(id)
        where e.id <> $1 and not exists (select from %s t where t.id = e.id)
      )', targets) into is_missing using owner, list, previous;
    return is_missing;
  end $$`,
];
