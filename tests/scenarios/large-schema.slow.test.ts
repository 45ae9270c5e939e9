import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createGround, startStack } from '../harness/stacks/stack.ts';
import { apply } from './snapshot-documents.ts';

/** The pause after another request, so that these requests take little of a core. */
const probePauseMs = 3;

const types = ['text', 'number', 'bool', 'date', 'email', 'json'];
const fields = Array.from({ length: 50 }, (_, index) => ({ name: `field${index}`, type: types[index % types.length] }));
const rule = '@request.auth.id != "" && (field0 = @request.auth.id || field1 > 3)';
const rules = { list_rule: rule, view_rule: rule, create_rule: rule, update_rule: rule, delete_rule: rule };
const collections = Array.from({ length: 500 }, (_, index) => ({ name: `large${index}`, ...rules, fields }));

test('a schema with 500 collections and 50 fields each is applied in one request [collections §11.2]', async () => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'one', ground });
  const admin = await stack.admin();
  const { created } = await admin.post(apply, { snapshot: { version: 1, collections } }, 200);
  assert.equal((created as string[]).length, collections.length);
  const { json: snapshot } = await admin.get('/api/v1/admin/migrations/snapshot');
  const { unchanged } = await admin.post(apply, { snapshot, mode: 'sync' }, 200);
  assert.equal((unchanged as string[]).length, collections.length);
});

test('its files are also planned and applied, while other requests are answered [schema §1]', async (t) => {
  await using ground = await createGround();
  await using stack = await startStack({ topology: 'one', ground });
  const admin = await stack.admin();
  const views = Array.from({ length: 20 }, (_, index) => ({
    name: `view${index}`,
    type: 'view',
    view_query: `select id, field0, field1 from large${index}`,
  }));
  const schema = { version: 1, collections: [...collections, ...views] };
  const path = '/api/v1/admin/schema';
  /** Sends other requests one after the other until the work is done. A blocked process answers one or two of them. */
  const besides = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    let answered = 0;
    let isDone = false;
    const probe = async () => {
      for (; !isDone; answered += 1) {
        assert.equal((await stack.guest.get('/healthz')).status, 200);
        await pause(probePauseMs);
      }
    };
    const probing = probe();
    try {
      return await work();
    } finally {
      isDone = true;
      await probing;
      t.diagnostic(`${what}: ${answered} requests were answered beside it`);
      assert.ok(answered > 3, `${what}: only ${answered} requests were answered beside it`);
    }
  };
  const first = await besides('plan of an empty stack', () => admin.post(`${path}/plan`, { schema }, 200));
  await besides('apply', () => admin.post(`${path}/apply`, { schema, hash: first.hash }, 200));
  const pulled = await besides('pull', () => admin.get(path));
  const files = (pulled.json as { data: { collections: Record<string, unknown>[] } }).data;
  const same = await besides('plan without changes', () => admin.post(`${path}/plan`, { schema: files }, 200));
  assert.deepEqual(same.changes, []);
  const renamed = {
    ...files,
    collections: files.collections.map((file) =>
      file.type === 'view'
        ? { ...file, view_query: String(file.view_query).replaceAll('field0', 'renamed') }
        : {
            ...file,
            ...Object.fromEntries(['list', 'view', 'create', 'update', 'delete'].map((name) => [`${name}_rule`, null])),
            fields: (file.fields as { name: string }[]).map((field) =>
              field.name === 'field0' ? { ...field, name: 'renamed' } : field,
            ),
          },
    ),
  };
  const plan = await besides('plan of 500 renames', () => admin.post(`${path}/plan`, { schema: renamed }, 200));
  await besides('apply of 500 renames', () => admin.post(`${path}/apply`, { schema: renamed, hash: plan.hash }, 200));
});
