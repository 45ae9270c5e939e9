/**
 * Creates the schema of link tables, one for each relation to several records, and the functions of the triggers that
 * keep them. The arguments of a trigger are pairs: a column with lists of ids, and its table in the schema.
 */
export const statements: readonly string[] = [
  'create schema links',

  `create function system.links_added() returns trigger language plpgsql as $$
  begin
    for at in 0 .. tg_nargs - 1 by 2 loop
      execute format('insert into links.%2$I (owner, target)
        select n.id, e.id from fresh n cross join lateral jsonb_array_elements_text(n.%1$I) e(id)',
        tg_argv[at], tg_argv[at + 1]);
    end loop;
    return null;
  end $$`,

  // Only differences are written: a link that stays takes no lock of its target.
  `create function system.links_changed() returns trigger language plpgsql as $$
  begin
    for at in 0 .. tg_nargs - 1 by 2 loop
      execute format('with changed as materialized (
          select n.id, o.%1$I as stale, n.%1$I as fresh from stale o join fresh n on n.id = o.id
          where o.%1$I is distinct from n.%1$I
        ), was as (
          select c.id as owner, e.id as target from changed c cross join lateral jsonb_array_elements_text(c.stale) e(id)
        ), becomes as (
          select c.id as owner, e.id as target from changed c cross join lateral jsonb_array_elements_text(c.fresh) e(id)
        ), dropped as (
          delete from links.%2$I l using (table was except table becomes) d where l.owner = d.owner and l.target = d.target
        )
        insert into links.%2$I (owner, target) table becomes except table was',
        tg_argv[at], tg_argv[at + 1]);
    end loop;
    return null;
  end $$`,

  // Before the delete: the key of the target is checked once the rows of a statement are gone, in any order, and the
  // links of an owner that is deleted with its target have to be gone by then.
  `create function system.links_dropped() returns trigger language plpgsql as $$
  begin
    for at in 0 .. tg_nargs - 1 loop
      execute format('delete from links.%I where owner = $1', tg_argv[at]) using old.id;
    end loop;
    return old;
  end $$`,
];
