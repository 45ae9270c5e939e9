import pg from 'pg';
import type { Client } from '../harness/clients/client.ts';
import type { JsonObject } from '../harness/json.ts';

/** An encrypted field. */
export const encrypted = (name: string, type = 'text', options: object = {}) => ({
  name,
  type,
  options: { encrypted: true, ...options },
});

/** The values in a vault's encrypted fields. */
export const secrets = {
  note: 'meet at the harbour',
  mail: 'spy@example.com',
  site: 'https://harbour.example/',
  extra: { where: 'harbour', at: [1, null] },
};

/** Returns the encrypted fields that a record shows. */
export const shown = (record: JsonObject): JsonObject =>
  Object.fromEntries(Object.keys(secrets).map((name) => [name, record[name]])) as JsonObject;

/** Defines a base collection. */
export const define = (
  admin: Client,
  name: string,
  fields: readonly object[],
  rest: object = {},
): Promise<JsonObject> => admin.post('/api/v1/collections', { name, type: 'base', fields, ...rest });

/** Returns every row in the tables as JSON text. */
export async function rowsIn(databaseUrl: string, ...tables: readonly string[]): Promise<string[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const found: string[] = [];
    for (const table of tables) {
      const { rows } = await client.query(`select to_json(t)::text as row from ${table} t`);
      found.push(...rows.map(({ row }) => String(row)));
    }
    return found;
  } finally {
    await client.end();
  }
}
