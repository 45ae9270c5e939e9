import assert from 'node:assert/strict';
import { eventually } from '../harness/eventually.ts';
import { objectAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { define, rowsOf, text } from './history-rows.ts';

onEachTopology('history follows the schema', async (t, target) => {
  const root = await target.admin();
  const collection = await define(root, 'forms', [text('old'), text('dropped')]);
  const fields = JSON.parse(String(collection.fields)) as { id: string; name: string }[];
  const first = await root.create('forms', { old: 'v1', dropped: 'x' });
  const path = `/api/v1/forms/${first.id}`;
  await root.patch(path, { old: 'v2' });
  const [old] = fields;
  await root.patch('/api/v1/collections/forms', { fields: [{ ...old, name: 'renamed' }, text('added')] });
  await eventually('the new field is known', async () => {
    const { status } = await root.send('PATCH', path, { body: { added: 'kept' } });
    return status === 200;
  });
  const shown = (values: object) => ({ id: first.id, ...values, created: first.created });
  await t.test("snapshots use the fields' current names [history §4.1]", async () => {
    const rows = await rowsOf(root, path);
    assert.deepEqual(
      rows.map(({ at, snapshot }) => ({ ...objectAt({ snapshot }, 'snapshot'), updated: at })),
      [
        { ...shown({ renamed: 'v2', added: 'kept' }), updated: rows[0]?.at },
        { ...shown({ renamed: 'v2', added: null }), updated: rows[1]?.at },
        { ...shown({ renamed: 'v1', added: null }), updated: first.updated },
      ],
    );
  });
  await runScenarios(t, target, [
    {
      name: 'a restore, without dropped fields and with later ones',
      as: 'admin',
      request: `POST ${path}/restore?version=${first.updated}`,
      expect: {
        status: 200,
        json: { data: { ...shown({ renamed: 'v1', added: 'kept' }), updated: is.number } },
      },
      events: ['forms.update'],
      spec: 'history §5.4',
    },
    {
      name: 'history disabled',
      as: 'admin',
      request: 'PATCH /api/v1/collections/forms',
      body: { history_enabled: false },
      expect: { status: 200 },
      spec: 'history §1.2',
    },
    {
      name: 'history enabled again',
      as: 'admin',
      request: 'PATCH /api/v1/collections/forms',
      body: { history_enabled: true },
      expect: { status: 200 },
      spec: 'history §1.2',
    },
    {
      name: 'a collection is dropped with its history',
      as: 'admin',
      request: 'DELETE /api/v1/collections/forms',
      expect: { status: 200 },
      spec: 'history §1.2',
    },
    {
      name: 'a new collection of the same name',
      as: 'admin',
      request: 'POST /api/v1/collections',
      body: { name: 'forms', type: 'base', fields: [], history_enabled: true },
      expect: { status: 201 },
      spec: 'history §1.2',
    },
    {
      name: 'the new collection has no history of the old one',
      as: 'admin',
      request: `GET ${path}/history`,
      expect: refused.notFound,
      spec: 'history §1.2',
    },
  ]);
});
