import type { Client } from './client.ts';
import { type JsonObject, listAt, objectAt, textAt } from './json.ts';
import { firstAdmin } from './stack.ts';

/** How often a list is gone through: a collection stays while a view or a relation of another needs it. */
const maxRounds = 10;

/** Brings a stack back to how the harness sets one up: no webhook, no collection, one admin, the default settings. */
export async function clearStack(admin: Client): Promise<void> {
  await deleteAll(admin, '/api/v1/admin/webhooks');
  await deleteAll(admin, '/api/v1/collections');
  await deleteAll(admin, '/api/v1/admin/admins', ({ email }) => email !== firstAdmin.email);
  const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
  // The limits stay off: the next file has to sign in.
  const names = Object.keys(settings).filter((name) => name !== 'rate_limit.enabled');
  await admin.patch('/api/v1/admin/settings', Object.fromEntries(names.map((name) => [name, ''])));
}

async function deleteAll(admin: Client, path: string, isGoing: (row: JsonObject) => boolean = () => true) {
  for (let round = 0; round < maxRounds; round += 1) {
    const rows = listAt((await admin.get(path)).json, 'data').filter(isGoing);
    if (rows.length === 0) return;
    for (const row of rows) await admin.send('DELETE', `${path}/${textAt(row, 'id')}`);
  }
  throw new Error(`there are rows in ${path} that cannot be deleted`);
}
