import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGround, startStack } from '../harness/stack.ts';
import { apply } from './snapshot-documents.ts';

const types = ['text', 'number', 'bool', 'date', 'email', 'json'];
const fields = Array.from({ length: 50 }, (_, index) => ({ name: `field${index}`, type: types[index % types.length] }));
const rule = '@request.auth.id != "" && (field0 = @request.auth.id || field1 > 3)';
const rules = { list_rule: rule, view_rule: rule, create_rule: rule, update_rule: rule, delete_rule: rule };
const collections = Array.from({ length: 500 }, (_, index) => ({ name: `large${index}`, ...rules, fields }));

test('a schema of 500 collections with 50 fields each is applied in one request [collections §11.2]', async () => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'one', ground });
  const admin = await stack.admin();
  const { created } = await admin.post(apply, { snapshot: { version: 1, collections } }, 200);
  assert.equal((created as string[]).length, collections.length);
  const { json: snapshot } = await admin.get('/api/v1/admin/migrations/snapshot');
  const { unchanged } = await admin.post(apply, { snapshot, mode: 'sync' }, 200);
  assert.equal((unchanged as string[]).length, collections.length);
});
