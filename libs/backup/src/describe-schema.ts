import { ownSchemas } from '@recordbus/encryption';
import type pg from 'pg';
import type { SchemaDocument } from './manifest.ts';

// An earlier version's deployment lacks some schemas.
const schemaList = `select oid from pg_namespace where nspname in (${ownSchemas.map((name) => `'${name}'`).join(', ')})`;

/** Leases and grants belong to processes that the restored deployment does not have. */
const emptyTables = new Set(['system.leases', 'system.room_grants']);

interface Statement {
  readonly sql: string;
}

/**
 * Describes the product's schemas as the statements that create them, read from the catalog: first what loading the
 * tables needs, then keys, indexes, triggers and views. The connection must have an empty search_path, so that every
 * name has its schema. Throws for an unknown kind of object.
 */
export async function describeSchema(client: pg.Client): Promise<SchemaDocument> {
  const list = async (text: string): Promise<string[]> =>
    (await client.query<Statement>(text)).rows.map(({ sql }) => sql);
  await refuseUnknownKinds(client);
  return {
    before: [
      ...(await list(schemas)),
      ...(await list(extensions)),
      ...(await list(functions)),
      ...(await list(tables)),
      ...(await list(partitions)),
    ],
    tables: (await client.query<{ name: string; columns: string[] }>(storedTables)).rows.filter(
      ({ name }) => !emptyTables.has(name),
    ),
    after: [
      ...(await list(constraints)),
      ...(await list(indexes)),
      ...(await list(triggers)),
      ...(await describeViews(client)),
    ],
  };
}

/** Lists all tables and partitioned tables, to be locked before anything is read. */
export async function listTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relnamespace in (${schemaList}) and c.relkind in ('r', 'p')`,
  );
  return rows.map(({ name }) => name);
}

async function refuseUnknownKinds(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ what: string }>(`
    select format('%s (kind %s)', c.oid::regclass, c.relkind) as what from pg_class c
    where c.relnamespace in (${schemaList}) and c.relkind not in ('r', 'p', 'i', 'I', 'v', 'S', 't')
    union all select format('the type %s', t.oid::regtype) from pg_type t
    where t.typnamespace in (${schemaList}) and t.typtype in ('d', 'e', 'r')
    union all select format('the sequence %s', c.oid::regclass) from pg_class c
    where c.relnamespace in (${schemaList}) and c.relkind = 'S'
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')`);
  if (rows.length > 0)
    throw new Error(
      `a backup cannot hold ${rows.map(({ what }) => what).join(', ')}: the product does not create such objects`,
    );
}

const schemas = `select format('create schema %I', nspname) as sql from pg_namespace where oid in (${schemaList}) order by nspname`;

/** The extensions whose types and operator classes the tables use. */
const extensions = `
  select distinct format('create extension if not exists %I with schema %I', e.extname, n.nspname) as sql
  from pg_extension e join pg_namespace n on n.oid = e.extnamespace
  join pg_depend d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
  where (d.classid = 'pg_opclass'::regclass and d.objid in (
      select unnest(i.indclass) from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace in (${schemaList})))
    or (d.classid = 'pg_type'::regclass and d.objid in (
      select a.atttypid from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace in (${schemaList})))`;

const functions = `
  select pg_get_functiondef(p.oid) as sql from pg_proc p
  where p.pronamespace in (${schemaList}) and p.prokind in ('f', 'p')
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  order by p.oid`;

const options =
  "case when c.reloptions is null then '' else format(' with (%s)', array_to_string(c.reloptions, ', ')) end";

const columnDefinition = `
  format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
  || case when a.attcollation <> t.typcollation
       then (select format(' collate %I.%I', cn.nspname, co.collname) from pg_collation co
             join pg_namespace cn on cn.oid = co.collnamespace where co.oid = a.attcollation) else '' end
  || case
       when a.attgenerated <> '' then format(' generated always as (%s) %s', pg_get_expr(d.adbin, d.adrelid),
         case a.attgenerated when 's' then 'stored' else 'virtual' end)
       when a.attidentity <> '' then format(' generated %s as identity',
         case a.attidentity when 'a' then 'always' else 'by default' end)
       when d.adbin is not null then format(' default %s', pg_get_expr(d.adbin, d.adrelid)) else '' end
  || case when a.attnotnull then ' not null' else '' end`;

const tables = `
  select format('create %stable %s (%s)%s%s', case c.relpersistence when 'u' then 'unlogged ' else '' end,
    c.oid::regclass, coalesce(string_agg(${columnDefinition}, ', ' order by a.attnum), ''),
    case c.relkind when 'p' then format(' partition by %s', pg_get_partkeydef(c.oid)) else '' end, ${options}) as sql
  from pg_class c
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace in (${schemaList}) and c.relkind in ('r', 'p') and not c.relispartition
  group by c.oid order by c.oid`;

/** Partitions inherit columns, keys and indexes from their table. */
const partitions = `
  select format('create table %s partition of %s %s%s', c.oid::regclass, i.inhparent::regclass,
    pg_get_expr(c.relpartbound, c.oid), ${options}) as sql
  from pg_class c join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace in (${schemaList}) and c.relkind = 'r' and c.relispartition order by c.oid`;

/** Without xid8 columns: transaction ids are local to a cluster. Restored rows get the restore's id. */
const storedTables = `
  select c.oid::regclass::text as name,
    array_agg(quote_ident(a.attname) order by a.attnum) filter (where a.attname is not null) as columns
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
  where c.relnamespace in (${schemaList}) and c.relkind = 'r' and c.relpersistence = 'p'
  group by c.oid order by c.oid`;

/** Keys before foreign keys. Leaves out NOT NULL, which PostgreSQL 18 lists too: the columns already have it. */
const constraints = `
  select format('alter table %s add constraint %I %s', o.conrelid::regclass, o.conname, pg_get_constraintdef(o.oid)) as sql
  from pg_constraint o join pg_class c on c.oid = o.conrelid
  where c.relnamespace in (${schemaList}) and not c.relispartition and o.conparentid = 0
    and o.contype in ('p', 'u', 'c', 'x', 'f')
  order by array_position(array['p', 'u', 'x', 'c', 'f'], o.contype::text), o.oid`;

const indexes = `
  select case c.relkind when 'p' then regexp_replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
    else pg_get_indexdef(i.indexrelid) end as sql
  from pg_index i join pg_class c on c.oid = i.indrelid
  where c.relnamespace in (${schemaList}) and not c.relispartition and i.indisvalid
    and not exists (select from pg_constraint o where o.conindid = i.indexrelid and o.contype in ('p', 'u', 'x'))
  order by i.indexrelid`;

const triggers = `
  select pg_get_triggerdef(t.oid) as sql from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace in (${schemaList}) and not t.tgisinternal and t.tgparentid = 0 order by t.oid`;

/** Returns the views' statements, each after the views that it reads. */
async function describeViews(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ oid: string; sql: string; reads: string[] }>(`
    select c.oid::text as oid, format('create view %s%s as %s', c.oid::regclass, ${options}, pg_get_viewdef(c.oid)) as sql,
      array(select distinct d.refobjid::text from pg_rewrite r join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
        where r.ev_class = c.oid and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid) as reads
    from pg_class c where c.relnamespace in (${schemaList}) and c.relkind = 'v' order by c.oid`);
  const ordered: string[] = [];
  const left = new Map(rows.map((row) => [row.oid, row]));
  const add = (oid: string): void => {
    const view = left.get(oid);
    if (!view) return;
    left.delete(oid);
    view.reads.forEach(add);
    ordered.push(view.sql);
  };
  for (const { oid } of rows) add(oid);
  return ordered;
}
