import type pg from 'pg';

const schemas = "('system', 'records', 'history', 'links')";

/** What a version's statements rely on, by name. */
type Catalog = ReadonlyMap<string, string>;

/** Tables, columns, functions and rules of the product's schemas: what earlier versions' statements rely on. */
const objects = `
  select format('table %s', c.oid::regclass) as name, 'exists' as value from pg_class c
  where relnamespace in (select oid from pg_namespace where nspname in ${schemas}) and relkind in ('r', 'p', 'v')
  union all
  select format('column %s.%s', c.oid::regclass, attname),
    format_type(atttypid, atttypmod) ||
      case when attnotnull and not atthasdef and attidentity = '' then ', which every insert must set' else '' end
  from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
  where relnamespace in (select oid from pg_namespace where nspname in ${schemas}) and relkind in ('r', 'p', 'v')
  union all
  select format('function %s', oid::regprocedure), pg_get_function_result(oid) from pg_proc
  where pronamespace in (select oid from pg_namespace where nspname in ${schemas})
  union all
  select format('unique index of %s (%s)', indrelid::regclass, (select string_agg(pg_get_indexdef(indexrelid, n, true), ', ' order by n)
    from generate_series(1, indnkeyatts) n)), coalesce(pg_get_expr(indpred, indrelid), 'all rows') from pg_index
  join pg_class i on i.oid = indexrelid
  where indisunique and relnamespace in (select oid from pg_namespace where nspname in ${schemas})
  union all
  select format('rule of %s: %s', conrelid::regclass, pg_get_constraintdef(oid)), 'exists' from pg_constraint
  where contype in ('c', 'f', 'x') and connamespace in (select oid from pg_namespace where nspname in ${schemas})`;

/** Reads what statements rely on. */
export async function readCatalog(client: pg.Client): Promise<Catalog> {
  await client.query("set search_path = ''");
  const { rows } = await client.query<{ name: string; value: string }>(objects);
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Returns a sentence for each change that statements of the version before would fail on. */
export function breaksBetween(before: Catalog, after: Catalog): string[] {
  const lost = [...before].flatMap(([name, value]) => {
    const now = after.get(name);
    if (now === value || isLoosened(value, now) || (now === undefined && name.startsWith('rule '))) return [];
    return [now === undefined ? `${name} is gone` : `${name} was ${value}, and is ${now}`];
  });
  const gained = [...after].filter(([name]) => !before.has(name)).flatMap(([name, value]) => refusalOf(name, value));
  return [...lost, ...gained];

  function refusalOf(name: string, value: string): string[] {
    const table = /^(?:column|unique index of|rule of) (\w+\.\w+)/.exec(name)?.[1];
    if (!before.has(`table ${table}`)) return [];
    if (name.startsWith('column ')) return value.endsWith('must set') ? [`${name} is new, and ${value}`] : [];
    return usesNewColumn(table, name) ? [] : [`${name} is new, and may refuse rows of the version before`];
  }

  function usesNewColumn(table: string | undefined, name: string): boolean {
    const prefix = `column ${table}.`;
    const columns = [...after.keys()].filter((key) => key.startsWith(prefix) && !before.has(key));
    return columns.some((key) => new RegExp(`\\b${key.slice(prefix.length)}\\b`).test(name));
  }
}

const isLoosened = (value: string, now: string | undefined): boolean =>
  now !== undefined && value === `${now}, which every insert must set`;
