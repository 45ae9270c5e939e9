import type pg from 'pg';

/** The product's schemas that hold no deployment data before the first collection. */
const schemas = "('system', 'records', 'history', 'links', 'search')";

const inSchemas = `in (select oid from pg_namespace where nspname in ${schemas})`;

/**
 * What the catalog says about the product's schemas, one line for each object: schemas, tables, columns, constraints,
 * indexes, functions and triggers, with owners, rights, settings and comments. Two databases with equal lines behave alike.
 */
const lines = `
  select format('schema %s owner %s rights %s comment %s', nspname, nspowner::regrole, nspacl, obj_description(oid)) as line
  from pg_namespace where nspname in ${schemas}
  union all
  select format('relation %s kind %s persistence %s owner %s rights %s settings %s partition by %s comment %s', oid::regclass,
    relkind, relpersistence, relowner::regrole, relacl, reloptions,
    case relkind when 'p' then pg_get_partkeydef(oid) end, obj_description(oid))
  from pg_class where relnamespace ${inSchemas} and relkind <> 'c'
  union all
  select format('column %s.%s at %s type %s collation %s not null %s default %s identity %s generated %s storage %s comment %s',
    c.oid::regclass, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod),
    (select collname from pg_collation where oid = a.attcollation), a.attnotnull,
    pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated, a.attstorage, col_description(c.oid, a.attnum))
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace ${inSchemas} and c.relkind in ('r', 'p', 'v')
  union all
  -- A constraint that was added to a full table was not checked for the rows of then.
  select format('constraint %s of %s: %s', conname, conrelid::regclass, replace(pg_get_constraintdef(oid), ' NOT VALID', ''))
  from pg_constraint where connamespace ${inSchemas}
  union all
  select format('index: %s', pg_get_indexdef(indexrelid)) from pg_index join pg_class on pg_class.oid = indexrelid
  where relnamespace ${inSchemas}
  union all
  select format('function owner %s rights %s comment %s: %s', proowner::regrole, proacl, obj_description(oid),
    regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g'))
  from pg_proc where pronamespace ${inSchemas}
  union all
  select format('trigger: %s', pg_get_triggerdef(t.oid)) from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace ${inSchemas} and not t.tgisinternal`;

/** Describes a database's product schemas; without the tables in which the migrations are listed. */
export async function describeCatalog(client: pg.Client): Promise<string[]> {
  await client.query("set search_path = ''");
  const { rows } = await client.query<{ line: string }>(lines);
  return rows
    .map(({ line }) => line)
    .filter((line) => !line.includes('kysely_migration'))
    .sort();
}
