import assert from 'node:assert/strict';
import type { Stack } from '../harness/stacks/stack.ts';
import { userCollection } from '../harness/stacks/stack.ts';
import { operationsOf } from './operations.ts';
import type { Known } from './requests.ts';

/** The operation on the admin pages' files, which no test builds. */
export const ofBuild = 'getInnerAssetsByFile';

/** Operations that are not called. */
export const excluded: ReadonlySet<string> = new Set([
  // These would end the run's sessions.
  'deleteAdminSessions',
  'deleteAuthByCollectionSessions',
  ofBuild,
  // This would change the limits and how long the run's tokens live.
  'patchAdminSettings',
]);

/** Operations that would delete what the others use. */
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

/** The fields that the journey's requests use. */
const namedFields = [
  { name: 'title', type: 'text', options: { max: 200 } },
  { name: 'code', type: 'text', required: true, options: { pattern: '^[a-z]{1,8}$', min: 1 } },
  { name: 'slug', type: 'text', options: { unique: true } },
  { name: 'n', type: 'number', options: { min: -5, max: 5 } },
  { name: 'ok', type: 'bool' },
  { name: 'mail', type: 'email' },
  { name: 'kind', type: 'select', options: { values: ['a', 'b', 'c'] } },
  { name: 'tags', type: 'select', options: { values: ['x', 'y'], multiple: true } },
  { name: 'parent', type: 'relation', collection: 'others' },
  { name: 'parents', type: 'relation', collection: 'others', options: { multiple: true, max: 3 } },
  { name: 'meta', type: 'json' },
  { name: 'embedding', type: 'vector', options: { dimensions: 3 } },
  { name: 'photo', type: 'file' },
  { name: 'papers', type: 'file', options: { multiple: true, protected: true } },
];

const ownRule = { update_rule: '@request.auth.id != ""', delete_rule: '' };

/** Returns a field for each example in the document, which has every field type. */
async function exampleFields(stack: Stack): Promise<readonly object[]> {
  const { json } = await stack.guest.get('/api/v1/openapi.json');
  const { examples } =
    operationsOf(json as object).find(({ id }) => id === 'postCollectionsByCollectionFields')?.body ?? {};
  assert.ok(Array.isArray(examples) && examples.length > 10, 'the document has no examples of fields');
  return examples.map((example) => ('collection' in example ? { ...example, collection: 'others' } : example));
}

/** Creates collections of every type with some records. Returns values for operations' parameters. */
export async function makeContents(stack: Stack): Promise<Known> {
  const admin = await stack.admin();
  const others = { name: 'others', type: 'base', fields: [{ name: 'label', type: 'text' }], ...ownRule };
  await admin.post('/api/v1/collections', others);
  const fields = [...namedFields, ...(await exampleFields(stack))];
  await admin.post('/api/v1/collections', { name: 'everything', type: 'base', fields, history_enabled: true });
  await admin.post('/api/v1/collections', {
    name: 'seen',
    type: 'view',
    view_query: 'select id, title from everything',
  });
  const other = await admin.create('others', { label: 'one' });
  const ids = [other.id];
  for (const title of ['a', 'b'])
    ids.push(
      (
        await admin.create('everything', {
          title,
          code: title,
          parent: other.id,
          parents: [other.id],
          embedding: [1, 0, 0],
        })
      ).id,
    );
  const hook = await admin.post('/api/v1/admin/webhooks', {
    name: 'h',
    url: 'http://127.0.0.1:9/',
    events: ['none.*'],
  });
  return { collection: ['everything', 'others', 'seen', userCollection], id: [...ids, String(hook.id)] };
}
