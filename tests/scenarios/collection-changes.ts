import type { Client } from '../harness/clients/client.ts';
import type { JsonObject } from '../harness/json.ts';
import type { Scenario } from '../harness/stacks/scenario.ts';

export const path = '/api/v1/collections';

export const text = (name: string, options: object = {}, more: object = {}) => ({
  name,
  type: 'text',
  options,
  ...more,
});

/** Creates a base collection. */
export async function make(admin: Client, name: string, fields: readonly object[], more: object = {}) {
  const collection = await admin.post(path, { name, type: 'base', fields, ...more });
  const definitions: JsonObject[] = JSON.parse(String(collection.fields));
  return {
    id: String(collection.id),
    /** Returns a field's changed definition. */
    field: (field: string, change: object = {}) => ({ ...definitions.find((one) => one.name === field), ...change }),
  };
}

export const patch = (collection: string, body: object): Pick<Scenario, 'as' | 'request' | 'body'> => ({
  as: 'admin',
  request: `PATCH ${path}/${collection}`,
  body,
});
