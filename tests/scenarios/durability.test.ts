import assert from 'node:assert/strict';
import { listAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

const path = '/api/v1/collections';
const shown = (durability: string) => is.containing({ data: is.containing({ durability }) });

onEachTopology('collections say what their writes wait for', async (t, target) => {
  await runScenarios(t, target, [
    {
      name: 'not for the disk',
      as: 'admin',
      request: `POST ${path}`,
      body: { name: 'clicks', fields: [{ name: 'n', type: 'number' }], durability: 'relaxed' },
      expect: { status: 201, json: shown('relaxed') },
      spec: 'collections §1.6',
    },
    {
      name: 'a change of something else leaves it',
      as: 'admin',
      request: `PATCH ${path}/clicks`,
      body: { create_rule: null, update_rule: null, delete_rule: null, view_rule: null },
      expect: { status: 200, json: shown('relaxed') },
      spec: 'collections §6.1',
    },
    ...['auth', 'view'].map(
      (type): Scenario => ({
        name: `accounts and views are never relaxed (${type})`,
        as: 'admin',
        request: `POST ${path}`,
        body: {
          name: 'waiting',
          type,
          durability: 'relaxed',
          ...(type === 'view' && { view_query: 'select id from clicks' }),
        },
        expect: refused.invalid('durability'),
        spec: 'collections §1.5',
      }),
    ),
    {
      name: 'another word',
      as: 'admin',
      request: `POST ${path}`,
      body: { name: 'waiting', durability: 'none' },
      expect: refused.invalid('durability'),
      spec: 'collections §1.4',
    },
  ]);
  const admin = await target.admin();
  await t.test("the schema's file has it [schema §2.2]", async () => {
    const { json } = await admin.get('/api/v1/admin/schema');
    const file = listAt(json, 'data.collections').find(({ name }) => name === 'clicks');
    assert.equal(file?.durability, 'relaxed');
  });
  const { id } = await target.guest.create('clicks', { n: 1 });
  await runScenarios(t, target, [
    {
      name: 'a relaxed write is read at once',
      request: `PATCH /api/v1/clicks/${id}`,
      body: { n: 2 },
      expect: { status: 200, json: is.containing({ data: is.containing({ n: 2 }) }) },
      events: ['clicks.update'],
      spec: 'collections §1.6',
    },
    {
      name: 'writes of a batch',
      request: 'POST /api/v1/batch',
      body: {
        operations: [
          { op: 'create', collection: 'clicks', data: { n: 3 } },
          { op: 'delete', collection: 'clicks', id },
        ],
      },
      expect: { status: 200 },
      events: ['clicks.create', 'clicks.delete'],
      spec: 'collections §1.6',
    },
    {
      name: 'for the disk again',
      as: 'admin',
      request: `PATCH ${path}/clicks`,
      body: { durability: 'full' },
      expect: { status: 200, json: shown('full') },
      spec: 'collections §1.6',
    },
  ]);
  await admin.delete(`${path}/clicks`);
});
