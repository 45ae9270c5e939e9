import assert from 'node:assert/strict';
import { at, type JsonObject, listAt, textAt } from '../harness/json.ts';
import { is } from '../harness/matching.ts';
import { refused } from '../harness/refusals.ts';
import { runScenarios, type Scenario } from '../harness/stacks/scenario.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { apply } from './snapshot-documents.ts';

const spec = 'fields §5.9';
const one = '/api/v1/collections/desks';
const invalid = (place: string) => ({ status: 422, json: is.containing({ details: { [place]: is.text } }) });

onEachTopology('field rules are part of definitions', async (t, target) => {
  const admin = await target.admin();
  const fields = async (): Promise<readonly JsonObject[]> =>
    JSON.parse(textAt((await admin.get(one)).json, 'data.fields')) as JsonObject[];
  const fieldOf = async (name: string) => (await fields()).find((field) => field.name === name);
  const row = (name: string, request: string, body: unknown, expect: Scenario['expect']): Scenario => ({
    name,
    as: 'admin',
    request,
    body,
    expect,
    spec,
  });
  const define = (field: object) => ({ name: 'others', fields: [{ name: 'a', type: 'text', ...field }] });
  await admin.post('/api/v1/collections', { name: 'rooms', type: 'base', fields: [{ name: 'open', type: 'bool' }] });
  await admin.post('/api/v1/collections', {
    name: 'desks',
    type: 'base',
    fields: [
      { name: 'room', type: 'relation', collection: 'rooms' },
      { name: 'owner', type: 'text' },
      { name: 'code', type: 'text', view_rule: 'owner = @request.auth.id && room.open = true', write_rule: '' },
      { name: 'plan', type: 'file', options: { viewRule: 'owner != ""' }, view_rule: 'owner = "x"' },
      { name: 'free', type: 'text', view_rule: null, write_rule: null },
    ],
  });

  await t.test('a definition shows rules that are not null [fields §1.1]', async () => {
    const rulesOf = ({ view_rule, write_rule }: JsonObject) => [view_rule, write_rule];
    assert.deepEqual((await fields()).map(rulesOf), [
      [undefined, undefined],
      [undefined, undefined],
      ['owner = @request.auth.id && room.open = true', ''],
      ['owner = "x"', undefined],
      [undefined, undefined],
    ]);
  });

  await runScenarios(t, target, [
    row(
      'a rule that does not parse',
      'POST /api/v1/collections',
      define({ view_rule: 'a =' }),
      invalid('fields.a.view_rule'),
    ),
    row(
      'a rule that names no field',
      'POST /api/v1/collections',
      define({ write_rule: 'b = 1' }),
      invalid('fields.a.write_rule'),
    ),
    row(
      'a rule that is not text',
      'POST /api/v1/collections',
      define({ view_rule: 1 }),
      refused.invalid('fields.a.view_rule'),
    ),
    row(
      'a view rule that reads the body',
      'POST /api/v1/collections',
      define({ view_rule: '@request.body.a = "x"' }),
      invalid('fields.a.view_rule'),
    ),
    row(
      'a write rule of a field that the server sets',
      'POST /api/v1/collections',
      define({ type: 'autodate', onCreate: true, write_rule: '' }),
      invalid('fields.a.write_rule'),
    ),
    row(
      'a new field',
      `POST ${one}/fields`,
      { name: 'late', type: 'text', view_rule: 'owner = "y"' },
      { status: 201, json: { data: is.containing({ view_rule: 'owner = "y"' }) } },
    ),
    row(
      'one member of a field',
      `PATCH ${one}/fields/late`,
      { write_rule: '' },
      { status: 200, json: { data: is.containing({ view_rule: 'owner = "y"', write_rule: '' }) } },
    ),
    row('a rule that is wrong', `PATCH ${one}/fields/late`, { view_rule: 'nobody = 1' }, refused.invalid('view_rule')),
    row('a field that a rule needs is dropped', `DELETE ${one}/fields/owner`, undefined, {
      status: 422,
      json: is.containing({ code: 'validation_failed' }),
    }),
    row('a field that a rule of another collection needs', 'DELETE /api/v1/collections/rooms/fields/open', undefined, {
      status: 422,
      json: is.containing({ details: { 'desks.fields.code.view_rule': is.text } }),
    }),
    row('a renamed field', `PATCH ${one}/fields/owner`, { name: 'holder' }, { status: 200 }),
    row(
      'a renamed field of another collection',
      'PATCH /api/v1/collections/rooms/fields/open',
      { name: 'isOpen' },
      { status: 200 },
    ),
  ]);

  await t.test('rules follow both names [fields §5.9]', async () => {
    assert.equal((await fieldOf('code'))?.view_rule, 'holder = @request.auth.id && room.isOpen = true');
    assert.equal((await fieldOf('late'))?.view_rule, 'holder = "y"');
    const plan = await fieldOf('plan');
    assert.deepEqual([plan?.view_rule, at(plan, 'options.viewRule')], ['holder = "x"', 'holder != ""']);
  });

  await t.test('a definition list replaces the rules [fields §5.9]', async () => {
    const changed = (await fields()).map(({ view_rule: _, ...field }) => field);
    await admin.patch(one, { fields: changed });
    assert.ok((await fields()).every((field) => !('view_rule' in field)));
    const named = (await fields()).map((field) =>
      field.name === 'late' ? { ...field, view_rule: 'room.isOpen = true' } : field,
    );
    await admin.patch(one, { fields: named });
    assert.equal((await fieldOf('late'))?.view_rule, 'room.isOpen = true');
    const all = (await fields()).map((field) => (field.name === 'late' ? { ...field, view_rule: null } : field));
    await admin.patch(one, { fields: all });
    assert.ok(!('view_rule' in ((await fieldOf('late')) ?? {})));
  });

  await t.test('a snapshot keeps them [collections §11.5]', async () => {
    const near = { name: 'near', type: 'relation', collection: 'desks', view_rule: 'room.isOpen = true' };
    await admin.post(`${one}/fields`, near);
    await admin.patch(`${one}/fields/late`, { view_rule: 'desks_via_near.holder = @request.auth.id' });
    const before = await fields();
    const snapshot = (await admin.get('/api/v1/admin/migrations/snapshot')).json as {
      data: { collections: JsonObject[] };
    };
    const collections = snapshot.data.collections.filter(({ name }) => name === 'desks' || name === 'rooms');
    const document = { ...snapshot.data, collections };
    const applyTo = (mode: string) => admin.post(apply, { snapshot: document, mode }, 200);
    assert.deepEqual(listAt(await applyTo('sync'), 'updated'), []);
    assert.deepEqual(await fields(), before);
    await admin.delete(one);
    await admin.delete('/api/v1/collections/rooms');
    await applyTo('additive');
    assert.deepEqual(await fields(), before);
  });
});
