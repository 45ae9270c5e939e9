import type { Client } from './client.ts';
import { type JsonObject, listAt, objectAt, textAt } from './json.ts';
import { firstAdmin } from './stack.ts';

/** How often to repeat a list of deletes: a collection stays while a view or a relation depends on it. */
const maxRounds = 10;

/** Resets a stack to the state after its set-up: no webhooks, no collections, one admin, the default settings. */
export async function clearStack(admin: Client): Promise<void> {
  await deleteAll(admin, '/api/v1/admin/webhooks');
  await deleteAll(admin, '/api/v1/collections');
  await deleteAll(admin, '/api/v1/admin/admins', ({ email }) => email !== firstAdmin.email);
  const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
  // Rate limits stay disabled, because the next file signs in.
  const names = Object.keys(settings).filter((name) => name !== 'rate_limit.enabled');
  await admin.patch('/api/v1/admin/settings', Object.fromEntries(names.map((name) => [name, ''])));
}

async function deleteAll(admin: Client, path: string, isGoing: (row: JsonObject) => boolean = () => true) {
  for (let round = 0; round < maxRounds; round += 1) {
    const rows = listAt((await admin.get(path)).json, 'data').filter(isGoing);
    if (rows.length === 0) return;
    for (const row of rows) {
      const { status } = await admin.send('DELETE', `${path}/${textAt(row, 'id')}`);
      if (status === 422) await clearRules(admin, path, rows);
    }
  }
  throw new Error(`cannot delete all rows of ${path}`);
}

/** Clears the rules of collections, which may name others. */
async function clearRules(admin: Client, path: string, collections: readonly JsonObject[]): Promise<void> {
  const rules = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  for (const row of collections) await admin.send('PATCH', `${path}/${textAt(row, 'id')}`, { body: rules });
}
