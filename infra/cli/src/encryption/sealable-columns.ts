import { isSecretKey } from '@recordbus/settings';
import type pg from 'pg';
import { ownSchemas } from '../deployment/own-schemas.ts';

/** Columns of a table in which sealed values may stand, each name quoted, with its SQL type. */
export interface SealableTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/**
 * Every column of the product's tables that can hold text. Which of them hold sealed values is found by looking: no list
 * has to follow what is encrypted, and history also keeps values of fields that are gone.
 */
export async function listSealableTables(client: pg.Client): Promise<SealableTable[]> {
  const { rows } = await client.query<SealableTable>(
    `select c.oid::regclass::text as name, json_agg(json_build_object(
       'name', quote_ident(a.attname), 'type', format_type(a.atttypid, null)) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       and a.attgenerated = '' and a.atttypid in ('text'::regtype, 'json'::regtype, 'jsonb'::regtype)
     where c.relnamespace = any($1::regnamespace[]) and c.relkind = 'r' group by c.oid order by 1`,
    [ownSchemas],
  );
  return rows;
}

/** Values that are sealed once there is a key, and were stored before there was one: SQL of their tables. */
export interface PlainPlace {
  readonly table: string;
  readonly column: string;
  /** Which rows, as a condition. */
  readonly where: string;
}

/** Secret settings, and the secrets of authenticator apps. */
export async function listPlainPlaces(client: pg.Client): Promise<PlainPlace[]> {
  const settings = await client.query<{ key: string }>('select key from system.settings');
  const secrets = settings.rows.map(({ key }) => key).filter(isSecretKey);
  const accounts = await client.query<{ table: string }>(
    `select format('records.%I', name) as table from system.collections where type = 'auth' order by name`,
  );
  return [
    {
      table: 'system.settings',
      column: 'value',
      where: `key in (${secrets.map((key) => `'${key.replaceAll("'", "''")}'`).join(', ') || 'null'})`,
    },
    ...accounts.rows.map(({ table }) => ({ table, column: 'totp_secret', where: 'totp_secret is not null' })),
  ];
}
