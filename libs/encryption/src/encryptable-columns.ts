import { isSecretKey } from '@recordbus/settings';
import type pg from 'pg';

/** The product's schemas. Other schemas in the database belong to the operator. */
export const ownSchemas = ['system', 'records', 'history', 'links', 'search'] as const;

/** Links consist of ids, and encrypted fields are not searched. */
const encryptableSchemas = ownSchemas.filter((name) => name !== 'links' && name !== 'search');

/** A table and its columns that may hold encrypted values: quoted names and SQL types. */
export interface EncryptableTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/**
 * Lists every column in the product's tables that can hold text. The contents show which columns hold encrypted values,
 * so no list has to be maintained, and dropped fields' values in the history are found too.
 */
export async function listEncryptableTables(client: pg.Client): Promise<EncryptableTable[]> {
  const { rows } = await client.query<EncryptableTable>(
    `select c.oid::regclass::text as name, json_agg(json_build_object(
       'name', quote_ident(a.attname), 'type', format_type(a.atttypid, null)) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       and a.attgenerated = '' and a.atttypid in ('text'::regtype, 'json'::regtype, 'jsonb'::regtype)
     where c.relnamespace = any($1::regnamespace[]) and c.relkind = 'r' group by c.oid order by 1`,
    [encryptableSchemas],
  );
  return rows;
}

/** A column that is encrypted whenever there is a key, but may hold older values. All members are SQL. */
export interface SecretColumn {
  readonly table: string;
  readonly column: string;
  /** The condition that selects the rows. */
  readonly where: string;
}

/** Lists the columns with secret settings, authenticator secrets and the keys of PocketBase's tokens. */
export async function listSecretColumns(client: pg.Client): Promise<SecretColumn[]> {
  const settings = await client.query<{ key: string }>('select key from system.settings');
  const secrets = settings.rows.map(({ key }) => key).filter(isSecretKey);
  const accounts = await client.query<{ table: string }>(
    `select format('records.%I', name) as table from system.collections where type = 'auth' order by name`,
  );
  // An earlier version's database lacks the column.
  const admins = await client.query<{ table: string }>(
    `select 'system.admins' as table from pg_attribute where attrelid = to_regclass('system.admins') and attname = 'totp_secret'`,
  );
  const keys = await client.query("select from pg_class where oid = to_regclass('system.pocketbase_keys')");
  return [
    ...keys.rows.map(() => ({ table: 'system.pocketbase_keys', column: 'token_key', where: 'true' })),
    {
      table: 'system.settings',
      column: 'value',
      where: `key in (${secrets.map((key) => `'${key.replaceAll("'", "''")}'`).join(', ') || 'null'})`,
    },
    ...[...admins.rows, ...accounts.rows].map(({ table }) => ({
      table,
      column: 'totp_secret',
      where: 'totp_secret is not null',
    })),
  ];
}
