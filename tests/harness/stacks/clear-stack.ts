import type { Client } from '../clients/client.ts';
import { type JsonObject, listAt, objectAt, textAt } from '../json.ts';
import { firstAdmin } from './stack.ts';

const collectionsPath = '/api/v1/collections';

/** Resets a stack to the state after its set-up: no webhooks, no collections, one admin, the default settings. */
export async function clearStack(admin: Client): Promise<void> {
  await deleteAll(admin, '/api/v1/admin/webhooks');
  // A setting may keep a collection from being deleted.
  const settings = objectAt((await admin.get('/api/v1/admin/settings')).json, 'data');
  // Rate limits stay disabled, because the next file signs in.
  const names = Object.keys(settings).filter((name) => name !== 'rate_limit.enabled');
  await admin.patch('/api/v1/admin/settings', Object.fromEntries(names.map((name) => [name, ''])));
  await deleteAllCollections(admin);
  await deleteAll(admin, '/api/v1/admin/admins', ({ email }) => email !== firstAdmin.email);
}

/** A collection cannot be deleted while another one's view, relation or rule depends on it, even in a circle. */
async function deleteAllCollections(admin: Client): Promise<void> {
  const left = await deleteWhatGoes(admin, collectionsPath);
  for (const collection of left) await clearRules(admin, collection);
  for (const collection of left) await dropRelations(admin, collection);
  await deleteAll(admin, collectionsPath);
}

async function deleteAll(admin: Client, path: string, isGoing?: (row: JsonObject) => boolean): Promise<void> {
  const left = await deleteWhatGoes(admin, path, isGoing);
  if (left.length > 0) throw new Error(`cannot delete these rows of ${path}: ${JSON.stringify(left)}`);
}

/** Deletes rows, and repeats this while it succeeds for any, because each may free another. Returns the rows left. */
async function deleteWhatGoes(
  admin: Client,
  path: string,
  isGoing: (row: JsonObject) => boolean = () => true,
): Promise<readonly JsonObject[]> {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const rows = listAt((await admin.get(path)).json, 'data').filter(isGoing);
    if (rows.length === 0 || rows.length === before) return rows;
    before = rows.length;
    for (const row of rows) await admin.send('DELETE', `${path}/${textAt(row, 'id')}`);
  }
}

/** Clears a collection's and its fields' rules, which may name other collections and relations. */
async function clearRules(admin: Client, collection: JsonObject): Promise<void> {
  const rules = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
  const path = `${collectionsPath}/${textAt(collection, 'id')}`;
  await admin.patch(path, rules);
  const ruled = fieldsOf(collection).filter((field) => 'view_rule' in field || 'write_rule' in field);
  for (const field of ruled)
    await admin.patch(`${path}/fields/${textAt(field, 'name')}`, { view_rule: null, write_rule: null });
}

async function dropRelations(admin: Client, collection: JsonObject): Promise<void> {
  for (const field of fieldsOf(collection).filter(({ type }) => type === 'relation'))
    await admin.delete(`${collectionsPath}/${textAt(collection, 'id')}/fields/${textAt(field, 'name')}`);
}

/** The field definitions, which the API returns as JSON text. */
const fieldsOf = (collection: JsonObject): readonly JsonObject[] => JSON.parse(textAt(collection, 'fields'));
