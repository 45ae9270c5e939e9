import assert from 'node:assert/strict';
import { at, listAt } from '../harness/json.ts';
import { onEachTopology } from '../harness/stacks/target.ts';

onEachTopology('definitions that their author hardly intends give warnings', async (t, target) => {
  const admin = await target.admin();
  const path = '/api/v1/collections';
  const closed = { create_rule: '', update_rule: '', delete_rule: '' };
  const text = { name: 'title', type: 'text' };
  await admin.post(path, { name: 'shelves', type: 'base', fields: [text], ...closed });
  const state = { name: 'state', type: 'select', options: { values: ['open', 'done'] } };
  await admin.post(path, { name: 'volumes', type: 'base', fields: [text, state], ...closed });
  const warningsOf = (json: unknown) =>
    at(json, 'warnings') === undefined ? [] : listAt(json, 'warnings').map(String);

  const rows: readonly (readonly [rule: string, warning: RegExp | undefined])[] = [
    [
      'title = "a" || @request.auth.id = null',
      /^list_rule of volumes has a part .* character 16: @request\.auth\.id = null\. .*@request\.auth\.id != ""/,
    ],
    ['@request.auth.type = "guest"', /^list_rule of volumes never holds: .* "user" or "service"/],
    [
      '@request.auth.collection = "nobody" || title = "a"',
      /character 1: .*@request\.auth\.collection names an auth collection/,
    ],
    ['title = "a" && title = "b"', /never holds: .* contradicts itself/],
    ['state = "opne" || title = "a"', /character 1: state = "opne" .* none of the select's choices/],
    ['state = "open" || state != "opne"', undefined],
    ['@request.auth.id != "" || title = "a"', undefined],
  ];
  for (const [rule, warning] of rows)
    await t.test(`${rule} ${warning ? 'warns' : 'does not warn'} [rules §6.4]`, async () => {
      const { status, json } = await admin.send('PATCH', `${path}/volumes`, { body: { list_rule: rule } });
      assert.equal(status, 200);
      const warnings = warningsOf(json);
      assert.equal(warnings.length, warning ? 1 : 0, warnings.join('\n'));
      if (warning) assert.match(String(warnings[0]), warning);
    });

  await t.test("a field's rule warns, with the field and with the collection [rules §6.4]", async () => {
    const warned = async (method: string, place: string, body: object) =>
      warningsOf((await admin.send(method, `${path}/volumes${place}`, { body })).json);
    const dead = /^view_rule of volumes\.note has a part .* character 16: @request\.auth\.id = null\./;
    const note = { name: 'note', type: 'text' };
    const rules = { view_rule: 'title = "a" || @request.auth.id = null', write_rule: 'title = "a" && title = "b"' };
    const added = await warned('POST', '/fields', { ...note, ...rules });
    assert.equal(added.length, 2, added.join('\n'));
    assert.match(String(added[0]), dead);
    assert.match(String(added[1]), /^write_rule of volumes\.note never holds/);
    assert.deepEqual(await warned('PATCH', '', { list_rule: null }), added);
    assert.deepEqual(await warned('PATCH', '/fields/note', { write_rule: 'title = "a"' }), added.slice(0, 1));
    assert.deepEqual(await warned('PATCH', '/fields/title', { required: false }), []);
    assert.deepEqual(await warned('PATCH', '/fields/note', { view_rule: null }), []);
    assert.deepEqual(await warned('PATCH', '', { list_rule: '@request.auth.id != "" || title = "a"' }), []);
  });

  await t.test('a plan has the warnings too [rules §6.4]', async () => {
    const schema = JSON.parse(
      JSON.stringify(at((await admin.get('/api/v1/admin/schema')).json, 'data')).replace(
        /@request\.auth\.id != \\"\\"/,
        '@request.auth.id = null',
      ),
    );
    const plan = await admin.send('POST', '/api/v1/admin/schema/plan', { body: { schema } });
    assert.equal(plan.status, 200, plan.text);
    assert.match(
      JSON.stringify(listAt(plan.json, 'data.warnings')),
      /list_rule of volumes has a part that never holds/,
    );
  });

  await t.test('a webhook pattern without an event warns, in the answer and in a plan [webhooks §1.3]', async () => {
    const hook = { name: 'typos', url: 'https://receiver.example/hook', enabled: false };
    const made = await admin.send('POST', '/api/v1/admin/webhooks', {
      body: { ...hook, events: ['volumes.created', 'volume.create', 'volumes.create', 'shop.paid'] },
    });
    assert.equal(made.status, 201, made.text);
    const [action, collection, ...others] = warningsOf(made.json);
    assert.match(String(action), /volumes\.created .* are volumes\.create, volumes\.update and volumes\.delete/);
    assert.match(String(collection), /volume\.create .* there is no collection volume\./);
    assert.deepEqual(others, []);
    const schema = at((await admin.get('/api/v1/admin/schema')).json, 'data');
    const plan = await admin.send('POST', '/api/v1/admin/schema/plan', { body: { schema } });
    assert.equal(plan.status, 200, plan.text);
    assert.match(plan.text, /webhooks\.typos\.events: The pattern volumes\.created matches no event/);
    const id = String(at(made.json, 'data.id'));
    const right = await admin.send('PATCH', `/api/v1/admin/webhooks/${id}`, { body: { events: ['volumes.*'] } });
    assert.equal(right.status, 200);
    assert.deepEqual(warningsOf(right.json), []);
    assert.equal((await admin.send('DELETE', `/api/v1/admin/webhooks/${id}`)).status, 200);
  });

  await t.test(
    'a required relation without cascade warns, with the field and with the collection [fields §3.9]',
    async () => {
      const relation = (name: string, options: object) => ({
        name,
        type: 'relation',
        collection: 'shelves',
        required: true,
        options,
      });
      const add = async (field: object) =>
        warningsOf((await admin.send('POST', `${path}/volumes/fields`, { body: field })).json);
      assert.match(
        String(await add(relation('shelf', {}))),
        /^The relation shelf is required, .* record in shelves leaves it empty/,
      );
      assert.deepEqual(await add(relation('strict', { cascade: 'restrict' })), []);
      assert.deepEqual(await add(relation('owned', { cascade: 'cascade' })), []);
      const { json } = await admin.send('PATCH', `${path}/volumes`, { body: { list_rule: null } });
      assert.equal(warningsOf(json).length, 1);
    },
  );
});
