import type { Client } from '../harness/clients/client.ts';
import { type JsonObject, listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';

/** A text field. */
export const text = (name: string, options: object = {}) => ({ name, type: 'text', options });
/** A relation field. */
export const relation = (name: string, collection: string, cascade = 'setNull') => ({
  name,
  type: 'relation',
  collection,
  options: { cascade },
});

/** Defines a base collection with history. */
export const define = (
  admin: Client,
  name: string,
  fields: readonly object[],
  rest: object = {},
): Promise<JsonObject> =>
  admin.post('/api/v1/collections', { name, type: 'base', fields, history_enabled: true, ...rest });

/** The answer with these rows on one page. */
export const historyOf = (...rows: readonly object[]) => ({
  status: 200,
  json: {
    data: {
      data: rows.map((row) => ({ id: is.uuid, version: is.version, ...row })),
      page: 1,
      perPage: 50,
      totalItems: rows.length,
      totalPages: rows.length > 0 ? 1 : 0,
    },
  },
});

/** The actors as history rows name them. */
export const guest = { actor_id: null, actor_type: 'guest' };
export const user = { actor_id: is.uuidV7, actor_type: 'user' };
export const admin = { actor_id: is.uuid, actor_type: 'admin' };

/** Returns a record's history rows, newest first. */
export const rowsOf = async (client: Client, path: string): Promise<readonly JsonObject[]> =>
  listAt((await client.get(`${path}/history`)).json, 'data.data');
