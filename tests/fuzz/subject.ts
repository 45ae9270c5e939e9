import type { Stack } from '../harness/stack.ts';
import { userCollection } from '../harness/stack.ts';
import type { Known } from './requests.ts';

/** Operations that are not asked, and why. */
export const spared: ReadonlySet<string> = new Set([
  // The sessions that the run itself lives by.
  'deleteAdminSessions',
  'deleteAuthByCollectionSessions',
  // The limits, and the lifetime of the tokens that the run itself lives by.
  'patchAdminSettings',
]);

/** Operations that would take away what the others work with. */
export const destructive: ReadonlySet<string> = new Set([
  'deleteCollectionsByCollection',
  'patchCollectionsByCollection',
  'deleteAdminWebhooksById',
  'deleteByCollectionById',
  'delete_everything',
  'delete_others',
  'deleteAdminAdminsById',
  'patchAdminAdminsById',
  'deleteAdminSessionsById',
  'deleteAdminCollectionsByCollectionIndexesByIndex',
]);

const fields = [
  { name: 'title', type: 'text', options: { max: 200 } },
  { name: 'code', type: 'text', required: true, options: { pattern: '^[a-z]{1,8}$', min: 1 } },
  { name: 'n', type: 'number', options: { min: -5, max: 5 } },
  { name: 'ok', type: 'bool' },
  { name: 'mail', type: 'email' },
  { name: 'site', type: 'url' },
  { name: 'day', type: 'date' },
  { name: 'seen', type: 'autodate', onCreate: true, onUpdate: true },
  { name: 'kind', type: 'select', options: { values: ['a', 'b', 'c'] } },
  { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true } },
  { name: 'parent', type: 'relation', collection: 'others' },
  { name: 'meta', type: 'json' },
  { name: 'pin', type: 'password' },
  { name: 'html', type: 'editor' },
  { name: 'place', type: 'geoPoint' },
  { name: 'embedding', type: 'vector', options: { dimensions: 3 } },
  { name: 'photo', type: 'file' },
  { name: 'papers', type: 'file', options: { multiple: true, protected: true } },
];

const ownRule = { update_rule: '@request.auth.id != ""', delete_rule: '' };

/** Makes collections of every kind with some records, and says what there is to ask for. */
export async function makeContents(stack: Stack): Promise<Known> {
  const admin = await stack.admin();
  const others = { name: 'others', type: 'base', fields: [{ name: 'label', type: 'text' }], ...ownRule };
  await admin.post('/api/v1/collections', others);
  await admin.post('/api/v1/collections', { name: 'everything', type: 'base', fields, history_enabled: true });
  await admin.post('/api/v1/collections', {
    name: 'seen',
    type: 'view',
    view_query: 'select id, title from everything',
  });
  const other = await admin.create('others', { label: 'one' });
  const ids = [other.id];
  for (const title of ['a', 'b'])
    ids.push((await admin.create('everything', { title, code: title, parent: other.id, embedding: [1, 0, 0] })).id);
  const hook = await admin.post('/api/v1/admin/webhooks', {
    name: 'h',
    url: 'http://127.0.0.1:9/',
    events: ['none.*'],
  });
  return { collection: ['everything', 'others', 'seen', userCollection], id: [...ids, String(hook.id)] };
}
