import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { skip, startTestAdmin, type TestAdmin } from '../../test/test-admin.ts';

suite('a readonly schema [schema §6]', { skip }, () => {
  let admin: TestAdmin;
  const schema = { version: 1, collections: [{ name: 'posts', fields: [{ name: 'title', type: 'text' }] }] };

  before(async () => {
    admin = await startTestAdmin(undefined, 'readonly');
    const planned = await admin.call('POST', '/api/v1/admin/schema/plan', { schema });
    const { hash } = planned.body.data as { hash: string };
    const { status } = await admin.call('POST', '/api/v1/admin/schema/apply', { schema, hash });
    assert.equal(status, 200);
  });
  after(() => admin.stop());

  const collection = '/api/v1/collections/posts';
  const indexes = '/api/v1/admin/collections/posts/indexes';
  for (const [method, path, body] of [
    ['POST', '/api/v1/collections', { name: 'more' }],
    ['PATCH', collection, { list_rule: '' }],
    ['DELETE', collection],
    ['POST', `${collection}/fields`, { name: 'more', type: 'text' }],
    ['PATCH', `${collection}/fields/title`, { required: true }],
    ['DELETE', `${collection}/fields/title`],
    ['POST', indexes, { name: 'by_title', columns: ['title'] }],
    ['DELETE', `${indexes}/by_title`],
    ['POST', '/api/v1/admin/migrations/apply', { snapshot: { version: 1, collections: [] } }],
  ] as const)
    test(`${method} ${path} is 409`, async () => {
      const answer = await admin.call(method, path, body);
      assert.equal(answer.status, 409);
      assert.deepEqual(answer.body, {
        error: 'the schema is readonly: change its files and apply them, or set SERVICE_SCHEMA to open',
        code: 'schema_readonly',
      });
    });

  test('settings and webhooks can still be changed', async () => {
    const answer = await admin.call('PATCH', '/api/v1/admin/settings', { 'smtp.host': 'mail.example.com' });
    assert.equal(answer.status, 200);
  });
});
