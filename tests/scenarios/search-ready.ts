import type { Client } from '../harness/clients/client.ts';
import { eventually } from '../harness/eventually.ts';
import { listAt } from '../harness/json.ts';

/** Waits until a collection's search index holds all records. */
export const untilReady = (admin: Client, collection: string): Promise<unknown> =>
  eventually('the search index is ready', async () => {
    const { json } = await admin.get(`/api/v1/admin/collections/${collection}/indexes`);
    return listAt(json, 'data').some(({ type, state }) => type === 'search' && state === 'ready');
  });
